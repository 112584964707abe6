import { rmSync } from 'node:fs'

/** Removes a folder and everything in it. */
export async function deleteTree({ directory }: { directory: string }): Promise<null> {
  rmSync(directory, { recursive: true, force: true })
  return null
}
