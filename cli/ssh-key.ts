import { ensureSshKey } from '#daemon/sources/git.ts'
import { readOptions } from '#server/options.ts'

/** Prints the public key with which the server clones over ssh, making the pair when there is none. */
export async function printSshKey(argv: string[]): Promise<number> {
  const { dataDirectory } = readOptions(argv)
  process.stdout.write(`${(await ensureSshKey(dataDirectory)).trim()}\n`)
  return 0
}
