import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import { ArchiveFault } from './archive-entries.ts'
import { ArchiveReader, type EntryContent } from './archive-reader.ts'

export { unpackArchive } from './unpack.ts'

/** The largest archive. */
export const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024

/**
 * Writes an uploaded `.tar.gz` to `path` (mode 0600) and judges it on the way, so that a bad one is refused at once:
 * `invalid_request` names the fault and the entry, `payload_too_large` comes after `limitBytes`. The file appears
 * under its name only when it is whole and good. After a failure `stream` is left open: its owner drains or ends it.
 */
export async function receiveArchive(
  stream: Readable,
  path: string,
  limitBytes: number = MAX_ARCHIVE_BYTES,
): Promise<{ bytes: number; sha256: string }> {
  const partial = `${path}.partial`
  // It may fail before it is read, and is not to end the process then.
  const ignore = (): void => {}
  stream.on('error', ignore)
  const reader = new ArchiveReader((_entry, content) => drain(content))
  const file = await open(partial, 'w', PRIVATE_FILE_MODE)
  try {
    const received = await receive(stream, file, reader, limitBytes)
    await file.datasync()
    await file.close()
    await rename(partial, path)
    return received
  } catch (error) {
    await reader.close()
    await file.close().catch(() => {})
    await rm(partial, { force: true })
    throw error instanceof ArchiveFault
      ? new AppError('invalid_request', error.message, { cause: error })
      : error
  } finally {
    stream.off('error', ignore)
  }
}

async function receive(stream: Readable, file: FileHandle, reader: ArchiveReader, limitBytes: number) {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of pieces(stream)) {
    bytes += chunk.length
    if (bytes > limitBytes) {
      throw new AppError(
        'payload_too_large',
        `The archive has more than ${limitBytes} bytes; leave out what the build does not need`,
      )
    }
    hash.update(chunk)
    await reader.feed(chunk)
    await writeAll(file, chunk)
  }
  await reader.finish()
  return { bytes, sha256: hash.digest('hex') }
}

async function* pieces(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_request', 'The upload broke off before its end; send the archive again', {
      cause: error,
    })
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await file.write(bytes, written)).bytesWritten
  }
}

async function drain(content: EntryContent): Promise<void> {
  // Not its end, which a content that is cut short never reaches.
  const closed = once(content, 'close')
  content.resume()
  await closed
}
