import { once } from 'node:events'
import { open, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import { ArchiveReader, type EntryContent } from './archive-reader.ts'

/**
 * Writes a `.tar.gz` to a file (mode 0600) and judges it on the way, so that a bad archive is refused at once. Throws a
 * BuildFailure that names the fault and the entry; what was written then stays.
 */
export async function keepArchive({ path }: { path: string }, stream: Readable): Promise<null> {
  const reader = new ArchiveReader((_entry, content) => drain(content))
  const file = await open(path, 'w', PRIVATE_FILE_MODE)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await reader.feed(chunk)
      await writeAll(file, chunk)
    }
    await reader.finish()
    await file.datasync()
    return null
  } catch (error) {
    await reader.close()
    throw error
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await file.write(bytes, written)).bytesWritten
  }
}

async function drain(content: EntryContent): Promise<void> {
  // Not `end`, which a truncated content never emits.
  const closed = once(content, 'close')
  content.resume()
  await closed
}
