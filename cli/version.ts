import { VERSION } from '#server/version.ts'

export async function printVersion(): Promise<void> {
  process.stdout.write(`${VERSION}\n`)
}
