import type { Readable } from 'node:stream'
import { timestamp } from '#server/clock.ts'
import { Attachment, takeOver } from './attachment.ts'
import type { Connection } from './connection.ts'
import { ContainerFinder } from './container-finder.ts'
import { engineFault } from './faults.ts'
import type { Ledger } from './ledger.ts'
import { DOCKER_PIECE_BYTES, LogFrames, type OutputLine } from './log-frames.ts'

export interface LogOptions {
  /** Only lines of this time and later, as the `ts` of a line or RFC 3339. */
  since?: string
  /** Only this many of the last lines. */
  tail?: number
  /** Continues with new lines until the container ends. */
  follow?: boolean
  /** Leaves out a last line without a newline, of which the rest is still to come. */
  wholeOnly?: boolean
  signal: AbortSignal
}

/** The output of this server's containers: the engine's log, and new output. Names are those that the server recorded. */
export class ContainerOutput {
  readonly #connection: Connection
  readonly #finder: ContainerFinder

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#finder = new ContainerFinder(connection, serverId, ledger)
  }

  /** A container's output in whole lines, oldest first. Ends with the container or the signal; slow readers slow it down. */
  async *logs(name: string, options: LogOptions): AsyncGenerator<OutputLine> {
    const { signal } = options
    if (signal.aborted) return
    const doing = `reading the output of ${name}`
    const path = `/containers/${this.#finder.idOf(name)}/logs?`
    const body = await this.#connection
      .stream(doing, { method: 'GET', path, query: logQuery(options), signal })
      .catch((error: unknown) => {
        if (signal.aborted) return null
        throw error
      })
    if (!body) return
    try {
      const engine = await this.#connection.version()
      const frames = new LogFrames(null, engine.name === 'docker' ? DOCKER_PIECE_BYTES : 0)
      for await (const chunk of body as AsyncIterable<Buffer>) yield* frames.push(chunk)
      if (!options.wholeOnly) yield* frames.end()
    } catch (error) {
      if (!signal.aborted) throw engineFault(doing, this.#connection.place, error)
    } finally {
      body.destroy()
    }
  }

  /**
   * The lines that a container prints from now on, or from its next start if it does not run, until the program ends. The
   * connection is attached when this returns. Nothing is missed, whatever happens to the engine's log: a reader that stops
   * reading blocks the program after about 1 MB. Throws `runtime_error`, also for a paused container.
   */
  async attach(name: string, signal: AbortSignal): Promise<AsyncGenerator<OutputLine[], void>> {
    const doing = `attaching to ${name}`
    const query = { stream: true, stdout: true, stderr: true }
    const path = `/containers/${this.#finder.idOf(name)}/attach?`
    const body = await this.#connection.stream(doing, { method: 'POST', path, query, signal })
    // An error before the first read is thrown by that read. When the signal aborts, the program must not stay blocked.
    body.on('error', () => {})
    signal.addEventListener('abort', () => body.destroy(), { once: true })
    return this.#attached(name, doing, body, signal)
  }

  async *#attached(
    name: string,
    doing: string,
    body: Readable,
    signal: AbortSignal,
  ): AsyncGenerator<OutputLine[], void> {
    let now = ''
    const frames = new LogFrames(() => now)
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        now = timestamp(Date.now())
        yield frames.push(chunk)
      }
      const begun = frames.end()
      // If the program may still run, the connection was cut: the engine's log will have the whole line.
      if (begun.length > 0 && (await this.#hasEnded(name))) yield begun
    } catch (error) {
      if (!signal.aborted) throw engineFault(doing, this.#connection.place, error)
    } finally {
      body.destroy()
    }
  }

  async #hasEnded(name: string): Promise<boolean> {
    const found = await this.#finder.find(name).catch(() => undefined)
    return found !== undefined && found?.State.Running !== true
  }

  /**
   * The raw streams of a container that was created with `streams` and is not started yet. They end with the program or the
   * signal; nothing is lost, since the program is blocked while nobody reads. Throws `runtime_error`.
   */
  async streams(name: string, signal: AbortSignal): Promise<Attachment> {
    const socket = await this.#connection.call(
      `attaching to ${name}`,
      (_, limited) =>
        takeOver(
          this.#connection.socketPath,
          `/containers/${this.#finder.idOf(name)}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
          limited,
        ),
      { signal },
    )
    return new Attachment(socket, signal)
  }
}

function logQuery({ since, tail, follow }: LogOptions): Record<string, unknown> {
  return {
    stdout: true,
    stderr: true,
    timestamps: true,
    follow: follow ?? false,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { since: unixTime(since) }),
  }
}

/** The engine takes seconds with nine decimals, which do not fit into a JavaScript number. */
function unixTime(timestamp: string): string {
  const seconds = Math.floor(Date.parse(timestamp) / 1_000)
  const fraction = /\.(\d+)/.exec(timestamp)?.[1] ?? ''
  return `${seconds}.${fraction.padEnd(9, '0').slice(0, 9)}`
}
