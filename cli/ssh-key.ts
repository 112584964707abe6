import { ensureSshKey } from '#daemon/sources/git.ts'
import { prepareDataDirectory } from '#server/data-directory.ts'
import { readOwnFlags } from './own-flags.ts'

/** Prints the public key with which the server clones over ssh, making the pair when there is none. */
export async function printSshKey(argv: string[]): Promise<number> {
  const { dataDirectory } = readOwnFlags('ssh-key', argv).options
  // Also where there can be none: below /proc node would try to make the folder for ever.
  prepareDataDirectory(dataDirectory)
  process.stdout.write(`${(await ensureSshKey(dataDirectory)).trim()}\n`)
  return 0
}
