import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ArchiveReader } from './archive-reader.ts'
import { COMPANIONS } from './companions.ts'
import { isPointer } from './lfs-files.ts'
import { TreeWriter } from './tree-writer.ts'

const PRIVATE_DIRECTORY = 0o700
const READ_BYTES = 256 * 1024
/** As many file names as fit in a log line. */
const MAX_LISTED = 10

/**
 * Unpacks an archive into `directory`, which is created if it is missing and must be empty. If everything is in one top
 * folder, that folder's content becomes the content of `directory`. Nothing is ever written outside it or through a link.
 * Returns the first files that are Git LFS pointers, whose content is missing. Throws a BuildFailure with the entry's name
 * for a bad archive; what was unpacked until then stays.
 */
export async function unpackArchive({
  path,
  directory,
}: {
  path: string
  directory: string
}): Promise<string[]> {
  const pointers: string[] = []
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY })
  const tree = new TreeWriter(directory)
  const reader = new ArchiveReader(async (entry, content) => {
    await tree.write(entry, content)
    const isChecked = entry.kind === 'file' && pointers.length < MAX_LISTED
    if (isChecked && isPointer(join(directory, entry.path), entry.size)) pointers.push(entry.path)
  })
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES }))
      await reader.feed(chunk as Buffer)
    await reader.finish()
    hoistOnlyFolder(directory)
    return pointers
  } catch (error) {
    await reader.close()
    throw error
  }
}

function hoistOnlyFolder(directory: string): void {
  const top = readdirSync(directory, { withFileTypes: true }).filter((entry) => !COMPANIONS.test(entry.name))
  const [only] = top
  if (top.length !== 1 || !only?.isDirectory()) return
  const aside = join(dirname(directory), 'aside')
  rmSync(aside, { recursive: true, force: true })
  renameSync(join(directory, only.name), aside)
  rmSync(directory, { recursive: true })
  renameSync(aside, directory)
}
