import { rmSync } from 'node:fs'

/** Removes a folder with all that it holds. */
export async function deleteTree({ directory }: { directory: string }): Promise<null> {
  rmSync(directory, { recursive: true, force: true })
  return null
}
