import { Duplex, PassThrough } from 'node:stream'
import { PROGRAM_COMMAND } from '#agent/protocol.ts'
import type { Attachment, Engine } from '../engine/index.ts'
import { entryName } from './container.ts'

const START_MS = 10_000

/**
 * Connects to the control socket of an entry's data plane, for which it waits so long, by a program in the entry: so this needs
 * no port, and no folder of the host. Throws `runtime_error` when that cannot be started; the connection ends when nothing
 * listens there in time.
 */
export async function dialEntry({ programs }: Engine, patienceMs: number): Promise<Duplex> {
  const command = [...PROGRAM_COMMAND, 'dial', String(patienceMs)]
  // The signal of a program also ends its streams later.
  const starting = new AbortController()
  const timer = setTimeout(() => starting.abort(), START_MS)
  try {
    const { streams } = await programs.start(entryName(), { command, env: {} }, starting.signal)
    return new ProgramConnection(streams)
  } finally {
    clearTimeout(timer)
  }
}

/** The input and output of a program as one stream. When either ends, so does the program. */
export class ProgramConnection extends Duplex {
  readonly #streams: Attachment
  readonly #output: AsyncIterator<Buffer, void>
  readonly #input = new PassThrough()

  constructor(streams: Attachment) {
    super({ allowHalfOpen: false })
    this.#streams = streams
    this.#output = streams.output()
    streams.input(this.#input).catch((error: Error) => this.destroy(error))
  }

  override _read(): void {
    this.#output.next().then(
      ({ value }) => this.push(value ?? null),
      (error: Error) => this.destroy(error),
    )
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#input.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#input.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#streams.close()
    done(error)
  }
}
