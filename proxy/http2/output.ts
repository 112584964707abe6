import { held, type Holder } from '../wire/held.ts'
import type { Page } from '../wire/page.ts'
import { poison } from '../wire/poison.ts'
import type { SocketWire } from '../wire/socket-wire.ts'
import { FLAG, FRAME, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from './protocol.ts'

/** How much is written at a time: four records of TLS. */
const CHUNK_BYTES = 64 * 1024
/** Max chunks that are kept for reuse. */
const MAX_KEPT_CHUNKS = 64
/** Min length of a DATA frame that is shortened by the end of a chunk. */
const MIN_DATA_BYTES = 1024

const kept: Buffer[] = []

function takeChunk(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
}

function keepChunk(chunk: Buffer): void {
  poison(chunk)
  if (kept.length < MAX_KEPT_CHUNKS) kept.push(chunk)
}

/** Collects the frames of all streams of a connection, so that many go out with one write. */
export class Output implements Holder {
  heldBytes = 0
  /** Changes whenever the frames collected before can no longer be modified. */
  turn = 0
  readonly #wire: SocketWire
  #chunk: Buffer | null = null
  #at = 0
  /** Full chunks that wait for earlier ones to be sent. */
  #sealed: Buffer[] = []

  constructor(wire: SocketWire) {
    this.#wire = wire
  }

  /** Whether the client is behind: nothing should be started that produces more output. */
  get isBlocked(): boolean {
    return this.#sealed.length > 0
  }

  /** Whether everything was written. */
  get isSent(): boolean {
    return this.#chunk === null && !this.isBlocked
  }

  /** Adds a frame whose content does not count for flow control. Returns its place in the chunk. */
  frame(type: number, flags: number, id: number, content: Buffer, start = 0, end = content.length): number {
    const at = this.#begin(type, flags, id, end - start)
    this.#at += content.copy(this.#chunk!, this.#at, start, end)
    return at
  }

  /** Adds a frame whose content is one number of four bytes. */
  numberFrame(type: number, id: number, number: number): void {
    this.#begin(type, 0, id, 4)
    this.#at = this.#chunk!.writeUInt32BE(number, this.#at)
  }

  /** Adds a header block in as many frames as needed. Returns the place of the first one, or -1 if that was sent already. */
  headers(id: number, flags: number, block: Buffer, length: number): number {
    const whole = length <= MAX_FRAME_BYTES
    const first = Math.min(length, MAX_FRAME_BYTES)
    const at = this.frame(FRAME.headers, whole ? flags | FLAG.endHeaders : flags, id, block, 0, first)
    const { turn } = this
    for (let start = first; start < length; start += MAX_FRAME_BYTES) {
      const end = Math.min(length, start + MAX_FRAME_BYTES)
      this.frame(FRAME.continuation, end === length ? FLAG.endHeaders : 0, id, block, start, end)
    }
    return this.turn === turn ? at : -1
  }

  /** Returns how many of `wanted` bytes of DATA fit into one frame now; 0 if the client has to read first. */
  room(wanted: number): number {
    if (this.isBlocked) return 0
    const minimum = FRAME_HEADER_BYTES + Math.min(wanted, MIN_DATA_BYTES)
    if (this.#chunk && CHUNK_BYTES - this.#at < minimum) {
      if (this.#wire.pending) return 0
      this.flush()
    }
    const left = this.#chunk ? CHUNK_BYTES - this.#at : CHUNK_BYTES
    return Math.min(wanted, MAX_FRAME_BYTES, left - FRAME_HEADER_BYTES)
  }

  /** Adds a DATA frame for which there is room. Returns its place. */
  data(id: number, flags: number, bytes: Buffer, start: number, end: number): number {
    const at = this.#begin(FRAME.data, flags, id, end - start)
    this.#at += bytes.copy(this.#chunk!, this.#at, start, end)
    return at
  }

  /** Whether written bytes are taken at once, so that pages can be written without a copy. */
  get takesPages(): boolean {
    return this.#wire.takesAtOnce
  }

  /** Whether something written before was not sent yet. */
  get isBusy(): boolean {
    return this.isBlocked || this.#wire.pending
  }

  /** Whether the collected frames fit before the piece of a page that begins at `start`. */
  fitsBefore({ front }: Page, start: number): boolean {
    return this.#at <= (start === 0 ? front : 0)
  }

  /**
   * Writes pieces of a page as DATA frames after the frames collected before, which must fit; the last frame gets `flags`.
   * The output must not be busy.
   */
  page(id: number, flags: number, page: Page, start: number, end: number): void {
    const { memory } = page
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = page.stopOf(at, end)
      const header = page.indexOf(at) - FRAME_HEADER_BYTES
      writeHeader(memory, header, FRAME.data, stop === end ? flags : 0, id, stop - at)
    }
    const from = page.indexOf(start) - FRAME_HEADER_BYTES - this.#at
    if (this.#chunk) {
      this.#chunk.copy(memory, from, 0, this.#at)
      keepChunk(this.#chunk)
    }
    this.#turnOver()
    this.#wire.write(memory, from, page.indexOf(end - 1) + 1)
    poison(memory, from, page.indexOf(start))
  }

  /** Adds a flag to the frame at `at`, which must be in the current chunk. */
  addFlag(at: number, flag: number): void {
    this.#chunk![at + 4]! |= flag
  }

  goAway(lastId: number, code: number): void {
    this.#begin(FRAME.goAway, 0, 0, 8)
    this.#at = this.#chunk!.writeUInt32BE(lastId, this.#at)
    this.#at = this.#chunk!.writeUInt32BE(code, this.#at)
  }

  #begin(type: number, flags: number, id: number, length: number): number {
    if (this.#chunk && CHUNK_BYTES - this.#at < FRAME_HEADER_BYTES + length) this.#seal()
    this.#chunk ??= takeChunk()
    const chunk = this.#chunk
    const at = this.#at
    writeHeader(chunk, at, type, flags, id, length)
    this.#at = at + FRAME_HEADER_BYTES
    return at
  }

  #seal(): void {
    if (!this.#wire.pending && !this.isBlocked) return this.flush()
    this.#sealed.push(this.#chunk!.subarray(0, this.#at))
    this.#turnOver()
  }

  #turnOver(): void {
    this.#chunk = null
    this.#at = 0
    this.turn++
  }

  /** Writes the collected frames, unless something written before still waits. */
  flush(): void {
    const wire = this.#wire
    while (!wire.pending && this.#sealed.length > 0) {
      const sealed = this.#sealed.shift()!
      this.#write(Buffer.from(sealed.buffer as ArrayBuffer), sealed.length)
    }
    if (!wire.pending && this.#chunk !== null) {
      const [chunk, length] = [this.#chunk, this.#at]
      this.#turnOver()
      this.#write(chunk, length)
    }
    held.set(this, (this.#sealed.length + (this.#chunk === null ? 0 : 1)) * CHUNK_BYTES)
  }

  /** Writes a chunk. If the kernel still reads it, it is not reused. */
  #write(chunk: Buffer, length: number): void {
    const isSent = this.#wire.write(chunk, 0, length)
    if (isSent || this.#wire.takesAtOnce) keepChunk(chunk)
  }

  /** The connection is gone. */
  drop(): void {
    for (const sealed of this.#sealed.splice(0)) keepChunk(Buffer.from(sealed.buffer as ArrayBuffer))
    if (this.#chunk) keepChunk(this.#chunk)
    this.#turnOver()
    held.set(this, 0)
  }

  giveUp(): void {
    this.#wire.giveUp()
  }
}

/** Writes the header of a frame (RFC 9113 4.1). */
function writeHeader(
  bytes: Buffer,
  at: number,
  type: number,
  flags: number,
  id: number,
  length: number,
): void {
  bytes[at] = length >>> 16
  bytes[at + 1] = length >>> 8
  bytes[at + 2] = length
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes.writeUInt32BE(id, at + 5)
}
