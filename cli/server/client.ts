import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#server/errors.ts'

/** Writes the client as a package of npm, which `GET /cli.tgz` answers with too, to standard output. */
export async function printClient(): Promise<void> {
  if (process.stdout.isTTY)
    throw new AppError(
      'invalid_request',
      'this is a file and standard output is a terminal: deployer client > deployer-cli.tgz',
    )
  process.stdout.write(await readFile(join(dirname(process.argv[1]!), 'cli.tgz')))
}
