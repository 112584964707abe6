import type { Readable } from 'node:stream'
import { extract, type Extract, type Header } from 'tar-stream'
import { AppError } from '#server/errors.ts'

/** A tar archive ends with two blocks of zeros (POSIX.1-2017, pax, "ustar Interchange Format"). */
const END_BYTES = 1_024

/** An archive that the engine could not finish. */
export class TornArchive extends AppError {
  constructor(cause?: unknown) {
    super('runtime_error', 'a file became shorter while it was read: back the disk up with `suspend`', {
      cause,
    })
  }
}

/** Hears what an archive holds. */
interface Counter {
  entry(header: Header): void
  content(piece: Buffer): void
}

/**
 * Passes a tar stream on, and throws TornArchive at its end unless it is a whole archive. If a file shrinks while the engine
 * reads it, the engine leaves out all that follows, and ends the stream as if nothing had happened.
 */
export async function* wholeTar(tar: Readable, counter?: Counter): AsyncGenerator<Buffer, void> {
  const reader = extract()
  reader.on('entry', (header, content, next) => {
    counter?.entry(header)
    if (counter) content.on('data', (piece) => counter.content(piece as Buffer))
    content.on('end', next)
    // The reader has it too.
    content.on('error', () => {})
    content.resume()
  })
  const read = new Promise<void>((resolve, reject) => {
    reader.on('finish', resolve)
    reader.on('error', (cause) => reject(new TornArchive(cause)))
  })
  // Nobody waits for it while the stream is read.
  read.catch(() => {})
  let end: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of tar as AsyncIterable<Buffer>) {
      if (reader.destroyed) break
      if (!reader.write(chunk)) await Promise.race([drained(reader), read])
      end =
        chunk.length >= END_BYTES
          ? chunk.subarray(-END_BYTES)
          : Buffer.concat([end, chunk]).subarray(-END_BYTES)
      yield chunk
    }
    reader.end(undefined)
    await read
    if (end.length < END_BYTES || end.some((byte) => byte !== 0)) throw new TornArchive()
  } finally {
    reader.destroy()
  }
}

/** Unlike `once` of events, this does not reject with the reader's own error. */
function drained(reader: Extract): Promise<void> {
  return new Promise((resolve) => void reader.once('drain', () => resolve()))
}
