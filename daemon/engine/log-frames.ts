/** A line that a container printed. */
export interface OutputLine {
  /** RFC 3339, so that it sorts as text: the engine's nanoseconds in its log, the time of arrival while attached. */
  ts: string
  stream: 'stdout' | 'stderr'
  line: string
}

/** A longer line is cut; its rest is dropped. */
export const MAX_LINE_BYTES = 16 * 1024
/**
 * Docker logs a line in pieces of this size; a shorter piece without a newline is the last one of a program that ended
 * (moby's `Copier`). Podman's pieces may have any length.
 */
export const DOCKER_PIECE_BYTES = 16 * 1024
const HEADER_BYTES = 8
const NEWLINE = 10
const SPACE = 32
/** The engine's own message in a log, such as that the rest cannot be read (moby's pkg/stdcopy, "Systemerr"). */
const ENGINE_FAULT = 3
const ENGINE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

interface Pending {
  ts: string
  parts: Buffer[]
  length: number
}

/**
 * Splits the engine's multiplexed stream: frames of an 8-byte header (stream, length) and text (Engine API, "Attach to a
 * container", stream format). In a log each frame begins with a timestamp, also the further frames of a long line. A frame
 * without one is the engine's own message, and gets the time of the frame before it.
 */
export class LogFrames {
  readonly #now: (() => string) | null
  readonly #pieceBytes: number
  #buffer: Buffer = Buffer.alloc(0)
  #lastTime: string | null = null
  readonly #pending: Record<'stdout' | 'stderr', Pending | null> = { stdout: null, stderr: null }

  /**
   * `now` returns the time if frames have no timestamps, as with an attached container. A frame of fewer than `pieceBytes`
   * ends its line even without a newline.
   */
  constructor(now: (() => string) | null = null, pieceBytes = 0) {
    this.#now = now
    this.#pieceBytes = pieceBytes
  }

  /** Adds bytes of the stream and returns the lines that they complete. */
  push(chunk: Buffer): OutputLine[] {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    const lines: OutputLine[] = []
    let at = 0
    while (this.#buffer.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + this.#buffer.readUInt32BE(at + 4)
      if (this.#buffer.length < end) break
      const type = this.#buffer[at]
      const payload = this.#buffer.subarray(at + HEADER_BYTES, end)
      if (type === ENGINE_FAULT) lines.push(this.#fault(payload))
      else this.#frame(type === 2 ? 'stderr' : 'stdout', payload, lines)
      at = end
    }
    this.#buffer = this.#buffer.subarray(at)
    return lines
  }

  /** The last line of each stream, if it has no newline. */
  end(): OutputLine[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) => {
      const pending = this.#pending[stream]
      this.#pending[stream] = null
      return pending ? [finish(stream, pending)] : []
    })
  }

  #frame(stream: 'stdout' | 'stderr', payload: Buffer, lines: OutputLine[]): void {
    const { ts, start } = this.#timed(payload)
    let from = start
    do {
      const pending = (this.#pending[stream] ??= { ts, parts: [], length: 0 })
      const newline = payload.indexOf(NEWLINE, from)
      const end = newline < 0 ? payload.length : newline
      append(pending, payload.subarray(from, end))
      if (newline < 0 && end - from >= this.#pieceBytes) return
      lines.push(finish(stream, pending))
      this.#pending[stream] = null
      from = end + 1
    } while (from < payload.length)
  }

  /** The engine's message is not part of any line that the program has begun. */
  #fault(payload: Buffer): OutputLine {
    const pending: Pending = { ts: this.#untimed(), parts: [], length: 0 }
    append(pending, payload.subarray(0, payload.at(-1) === NEWLINE ? -1 : payload.length))
    return finish('stderr', pending)
  }

  /** The time of a frame, and where its text starts. */
  #timed(payload: Buffer): { ts: string; start: number } {
    if (this.#now) return { ts: this.#now(), start: 0 }
    const space = payload.indexOf(SPACE)
    const ts = payload.subarray(0, Math.max(0, space)).toString('latin1')
    if (!ENGINE_TIME.test(ts) || Number.isNaN(Date.parse(ts))) return { ts: this.#untimed(), start: 0 }
    this.#lastTime = ts
    return { ts, start: space + 1 }
  }

  /** Not later than the lines before: reading continues after the newest line. */
  #untimed(): string {
    return this.#now?.() ?? this.#lastTime ?? new Date().toISOString()
  }
}

function append(pending: Pending, bytes: Buffer): void {
  const room = MAX_LINE_BYTES - pending.length
  if (room <= 0) return
  // Copied, so that an unfinished line does not keep the frame's buffer in memory.
  pending.parts.push(Buffer.from(bytes.subarray(0, room)))
  pending.length += Math.min(room, bytes.length)
}

function finish(stream: 'stdout' | 'stderr', { ts, parts }: Pending): OutputLine {
  return { ts, stream, line: Buffer.concat(parts).toString('utf8').replace(/\r$/, '') }
}
