import { once } from 'node:events'
import type { Readable } from 'node:stream'

/**
 * The first bytes of a stream, which stay in it: `count` of them, fewer when it ends before. Throws what the stream failed
 * with.
 */
export async function beginningOf(stream: Readable, count: number): Promise<Buffer> {
  for (;;) {
    if (stream.errored) throw stream.errored
    const start = stream.read(count) as Buffer | null
    if (start !== null) {
      stream.unshift(start)
      return start
    }
    if (stream.readableEnded || stream.destroyed) return Buffer.alloc(0)
    await changeOf(stream)
  }
}

/** Waits until more has come, or nothing more will. */
async function changeOf(stream: Readable): Promise<void> {
  const done = new AbortController()
  try {
    await Promise.race(
      ['readable', 'end', 'close'].map((name) => once(stream, name, { signal: done.signal })),
    )
  } finally {
    done.abort()
  }
}
