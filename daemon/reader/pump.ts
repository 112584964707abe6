import { finished, type Readable, type Writable } from 'node:stream'
import { giveBack } from '#server/memory.ts'

/** Bytes on their way from one stream to another. */
export interface Pump {
  /** Resolves when all bytes were written and the sink was ended; rejects when the source fails or `onBytes` throws. */
  done: Promise<void>
  /** Leaves the source paused and open. */
  detach(): void
}

/**
 * Copies a stream with back-pressure; nothing else may use the pieces afterwards. Unlike a pipeline, it leaves the source
 * open whatever happens to the sink: the source may be a connection that still has to be answered.
 */
export function pump(source: Readable, sink: Writable, onBytes: (bytes: Buffer) => void): Pump {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const resume = (): void => void source.resume()
  const onData = (bytes: Buffer): void => {
    try {
      onBytes(bytes)
    } catch (error) {
      return reject(error)
    }
    if (sink.write(bytes, () => giveBack(bytes))) return
    source.pause()
    sink.once('drain', resume)
  }
  const unwatch = finished(source, { writable: false }, (error) => {
    if (error) return reject(error)
    sink.end()
    resolve()
  })
  source.on('data', onData)
  return {
    done: promise,
    detach() {
      source.off('data', onData).pause()
      sink.off('drain', resume)
      unwatch()
    },
  }
}
