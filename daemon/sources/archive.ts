import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { AppError } from '#server/errors.ts'
import { Slots } from '#server/work/slots.ts'
import { BuildFailure } from '#plans/index.ts'
import { withReader } from '../reader/reader.ts'
import { KEEP_ARCHIVE } from './reader-calls.ts'

/** Each upload needs a process of 50 to 70 MiB; further uploads wait before their first byte is read. */
const MAX_RECEIVED_AT_ONCE = 8

const slots = new Slots(MAX_RECEIVED_AT_ONCE)

/**
 * Stores an uploaded `.tar.gz` at `path` (mode 0600). A process of its own judges it on the way, so that a bad archive is
 * refused at once: `invalid_request` names the fault and the entry, `payload_too_large` is thrown after `limitBytes`. The
 * file gets its name only when it is complete and valid. After a failure `stream` is left open: its owner drains or ends it.
 */
export async function receiveArchive(
  stream: Readable,
  path: string,
  limitBytes: number = UPLOAD_LIMIT_BYTES,
): Promise<void> {
  const partial = `${path}.partial`
  // The stream may fail before it is read, which must not end the process.
  const ignore = (): void => {}
  stream.on('error', ignore)
  try {
    await slots.run(() =>
      withReader(undefined, (reader) =>
        reader.feed(KEEP_ARCHIVE, { path: partial }, stream, counted(limitBytes)),
      ),
    )
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw explain(error, stream)
  } finally {
    stream.off('error', ignore)
  }
}

/** Counts bytes and throws `payload_too_large` when there are too many. */
function counted(limitBytes: number): (bytes: Buffer) => void {
  let received = 0
  return ({ length }) => {
    received += length
    if (received <= limitBytes) return
    throw new AppError(
      'payload_too_large',
      `the archive is larger than ${limitBytes} bytes: leave out what the build does not need`,
    )
  }
}

/** The error for the sender of the archive. */
function explain(error: unknown, stream: Readable): unknown {
  if (error instanceof AppError) return error
  if (error instanceof BuildFailure) return new AppError('invalid_request', error.message, { cause: error })
  if (stream.errored === null && (stream.readableEnded || !stream.destroyed)) return error
  return new AppError('invalid_request', 'the upload was interrupted: send the archive again', {
    cause: error,
  })
}
