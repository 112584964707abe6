import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** How much room something takes on the disk, and how many files it has. */
export interface Size {
  bytes: number
  files: number
}

/** The unit of `st_blocks` (stat(2)). */
const BLOCK_BYTES = 512
/** How many names of a folder are read at one time. */
const BATCH = 64
/** Files looked at at one time: half of Node's threads for files, since the rest of the server needs them too. */
const PARALLEL = 2

/** The room that a file or folder takes, with everything in it. What is missing or disappears meanwhile takes none. */
export async function sizeOf(path: string): Promise<Size> {
  const total = { bytes: 0, files: 0 }
  const folders: string[] = []
  const look = async (each: string): Promise<void> => {
    const facts = await lstat(each).catch(() => null)
    if (facts === null) return
    total.bytes += facts.blocks * BLOCK_BYTES
    if (facts.isDirectory()) folders.push(each)
    else total.files += 1
  }
  await look(path)
  for (let folder; (folder = folders.pop()) !== undefined;) {
    const looks: Promise<void>[] = []
    for await (const name of namesIn(folder)) {
      looks.push(look(join(folder, name)))
      if (looks.length === PARALLEL) await Promise.all(looks.splice(0))
    }
    await Promise.all(looks)
  }
  return total
}

/** The names in a folder, in no order, without holding all of them in memory; none if it is missing or disappears. */
export async function* namesIn(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder, { bufferSize: BATCH })) yield name
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Paths of users' files can be longer than the system opens.
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
  }
}
