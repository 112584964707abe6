import { spawnSync } from 'node:child_process'
import { mkdir, open, readdir, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import { extract } from 'tar-stream'
import { ENTRY_FILES, SENT_END } from './protocol.ts'

const UNFINISHED = 'incoming-'

/**
 * Unpacks a tar stream into a folder. Its second level, such as `files/<name>` with all that is below it, is there as a whole
 * or not at all, and survives a crash of the machine. A file replaces an earlier one; a folder that is there already stays.
 * Returns the names in `files`. Throws when the stream was cut.
 */
export async function receive(tar: Readable, folder: string): Promise<string[]> {
  process.umask(0o077)
  const incoming = join(folder, `${UNFINISHED}${process.pid}`)
  await mkdir(incoming)
  try {
    await unpack(tar, incoming)
    const kinds = await readdir(incoming)
    // What a name says to be there must be on the disk before the name.
    if (kinds.length > 0) sync(incoming)
    for (const kind of kinds) {
      await mkdir(join(folder, kind), { recursive: true })
      for (const name of await readdir(join(incoming, kind)))
        await place(join(incoming, kind, name), join(folder, kind, name))
    }
    await mkdir(join(folder, ENTRY_FILES), { recursive: true })
    return await readdir(join(folder, ENTRY_FILES))
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

/** Removes what was cut by the end of a container. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true })
}

async function unpack(tar: Readable, folder: string): Promise<void> {
  const entries = extract()
  const passed = pipeline(tar, entries)
  // An entry that waits for the rest of its content does not hear that there is none.
  const cut = passed.then(() => new Promise<never>(() => {}))
  cut.catch(() => {})
  const folders: [path: string, mtime: Date][] = []
  const made = new Set<string>()
  let isWhole = false
  for await (const content of entries) {
    const { name, type, mtime } = content.header
    const path = join(folder, name)
    if (!path.startsWith(folder + sep)) throw new Error(`${JSON.stringify(name)} is outside of the folder`)
    isWhole = name === SENT_END
    if (isWhole) content.resume()
    else if (type === 'directory') {
      await mkdir(path, { recursive: true })
      folders.push([path, mtime])
    } else {
      if (!made.has(dirname(path))) await mkdir(dirname(path), { recursive: true })
      made.add(dirname(path))
      await Promise.race([write(path, content as AsyncIterable<Buffer>, mtime), cut])
    }
  }
  if (!isWhole) throw new Error('it was cut')
  // Once nothing more is added to them.
  for (const [path, mtime] of folders) await utimes(path, mtime, mtime)
}

async function write(path: string, content: AsyncIterable<Buffer>, mtime: Date): Promise<void> {
  const file = await open(path, 'wx')
  try {
    for await (const piece of content) await file.writeFile(piece)
    await file.utimes(mtime, mtime)
  } finally {
    await file.close()
  }
}

/** Has the kernel write all that is new on the file system of a folder: for many files much faster than one by one. */
function sync(folder: string): void {
  const { status, error } = spawnSync('sync', ['-f', folder])
  if (status !== 0) throw error ?? new Error(`sync ended with ${status}`)
}

async function place(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}
