import { rename, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { AppError } from '#server/errors.ts'
import { Slots } from '#server/work/slots.ts'
import { BuildFailure } from '#plans/index.ts'
import { withReader } from '../reader/reader.ts'
import { KEEP_ARCHIVE } from './reader-calls.ts'

/** Each takes a process of 50 to 70 MiB; the senders of more wait before their first byte is read. */
const MAX_RECEIVED_AT_ONCE = 8

const slots = new Slots(MAX_RECEIVED_AT_ONCE)

/**
 * Keeps an uploaded `.tar.gz` at `path` (mode 0600). It is judged on the way, by a process of its own, so that a bad one
 * is refused at once: `invalid_request` names the fault and the entry, `payload_too_large` comes after `limitBytes`. The
 * file appears under its name only when it is whole and good. After a failure `stream` is left open: its owner drains or
 * ends it.
 */
export async function receiveArchive(
  stream: Readable,
  path: string,
  limitBytes: number = UPLOAD_LIMIT_BYTES,
): Promise<void> {
  const partial = `${path}.partial`
  // It may fail before it is read, and is not to end the process then.
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

/** Throws `payload_too_large` when more bytes came than may. */
function counted(limitBytes: number): (bytes: Buffer) => void {
  let received = 0
  return ({ length }) => {
    received += length
    if (received <= limitBytes) return
    throw new AppError(
      'payload_too_large',
      `The archive has more than ${limitBytes} bytes; leave out what the build does not need`,
    )
  }
}

/** The error for who sent the archive. */
function explain(error: unknown, stream: Readable): unknown {
  if (error instanceof AppError) return error
  if (error instanceof BuildFailure) return new AppError('invalid_request', error.message, { cause: error })
  if (stream.errored === null && (stream.readableEnded || !stream.destroyed)) return error
  return new AppError('invalid_request', 'The upload broke off before its end; send the archive again', {
    cause: error,
  })
}
