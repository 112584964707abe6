import { ensureSshKey } from '#daemon/sources/ssh-key.ts'
import { prepareDataDirectory } from '#server/data-directory.ts'
import type { Call } from '../call.ts'
import { optionsOf } from './own-flags.ts'

/** Prints the public key with which the server clones over ssh; creates the pair if there is none. */
export async function printSshKey(call: Call): Promise<number> {
  const { dataDirectory } = optionsOf(call)
  // Checked first: in a place like /proc, node would try for ever to create the folder.
  prepareDataDirectory(dataDirectory)
  process.stdout.write(`${(await ensureSshKey(dataDirectory)).trim()}\n`)
  return 0
}
