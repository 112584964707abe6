import { connect, Socket } from 'node:net'

/** What one read takes at most; also the size of the private buffer of a connection that streams. */
export const READ_BUFFER_BYTES = 64 * 1024

/** Outgoing bytes wait here; a slab that slow receivers still hold is replaced, so one pins no more than this. */
const SLAB_BYTES = 512 * 1024

/** The byte that tests write over what was read, so that a use after the callback shows. */
const POISON = 0xdb
const poisoned = process.env.DEPLOYER_PROXY_POISON === '1'

/**
 * One read buffer for all connections: reading, the callback and the copy out of it are one synchronous step, and an
 * idle connection owns no buffer. It is never handed to `write`.
 */
const shared = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)

/**
 * Where outgoing bytes are put together. After `write` the kernel has usually taken all and the same place is used
 * again; when not, the place moves on past the bytes that libuv still reads.
 */
class Slab {
  buffer = Buffer.allocUnsafeSlow(SLAB_BYTES)
  at = 0

  /** Makes room for `bytes` after `at`. */
  reserve(bytes: number): void {
    if (this.buffer.length - this.at >= bytes) return
    this.buffer = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes))
    this.at = 0
  }
}

export const slab = new Slab()

/** Who deals with what happens on a wire. `input` is valid during the call alone. */
export interface WireOwner {
  onRead(input: Buffer, length: number): void
  onDrain(): void
  /** The peer has sent its last byte. */
  onEnd(): void
  /** The socket is gone; called once. */
  onClose(): void
}

interface Handle {
  readStart?: unknown
  useUserBuffer?: unknown
}

/** A TCP connection as the relay sees it: reads into the shared buffer, writes that say whether they are done. */
export class Wire {
  readonly owner: WireOwner
  socket: Socket = undefined as unknown as Socket
  paused = false
  closed = false
  /** The wire that was paused until this one has drained. */
  #source: Wire | null = null
  #next: Buffer | undefined = shared
  #streaming = false
  /** False where node gives the data as 'data' events, in buffers of their own. */
  #userBuffer = true

  constructor(owner: WireOwner) {
    this.owner = owner
  }

  /**
   * Takes over an accepted socket. Documented API cannot give an accepted socket a read buffer (only `net.connect`
   * takes `onread`), so its handle is moved into a socket that has one; where that is not possible, 'data' events
   * do the same for about a tenth more CPU.
   */
  accept(accepted: Socket): void {
    const holder = accepted as unknown as { _handle: Handle | null }
    const handle = holder._handle
    if (!adoptable || typeof handle?.useUserBuffer !== 'function') {
      this.#userBuffer = false
      this.#attach(accepted)
      accepted.on('data', (data: Buffer) => this.owner.onRead(data, data.length))
      return
    }
    holder._handle = null
    this.#attach(
      new Socket({ handle, allowHalfOpen: true, writableHighWaterMark: 1, onread: this.#onread() } as object),
    )
    this.socket.resume()
  }

  /** Opens a connection to an IP address; `connected` is called when it stands. */
  connect(host: string, port: number, connected: () => void): void {
    const options = {
      host,
      port,
      noDelay: true,
      allowHalfOpen: true,
      writableHighWaterMark: 1,
      autoSelectFamily: false,
    }
    this.#attach(connect({ ...options, onread: this.#onread() }, connected))
    this.socket.resume()
  }

  #onread(): { buffer: () => Buffer; callback: (length: number, input: Uint8Array) => boolean } {
    return {
      // Node asks for a buffer once before and then after each read; without an answer it keeps the last one.
      buffer: () => {
        const next = this.#next
        this.#next = undefined
        return next as Buffer
      },
      callback: (length, input) => {
        this.owner.onRead(input as Buffer, length)
        if (poisoned && input === shared) shared.fill(POISON, 0, length)
        return !this.paused
      },
    }
  }

  #attach(socket: Socket): void {
    this.socket = socket
    socket.on('drain', () => {
      if (socket.writableLength > 0) return
      const source = this.#source
      this.#source = null
      source?.resume()
      this.owner.onDrain()
    })
    socket.on('end', () => this.owner.onEnd())
    // The error is told by the close that follows it.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.closed) return
      this.closed = true
      this.owner.onClose()
    })
  }

  /** Whether bytes written have not all gone to the kernel. */
  get pending(): boolean {
    return this.socket.writableLength > 0
  }

  /** Writes the slab's bytes from its place to `end`. False: they are pending. */
  writeSlab(end: number): boolean {
    const start = slab.at
    if (this.write(slab.buffer, start, end)) return true
    slab.at = end
    return false
  }

  /** Writes bytes that stay as they are until they are sent. False: they are pending. */
  write(bytes: Buffer, start: number, end: number): boolean {
    const socket = this.socket
    if (start === end || !socket.writable) return socket.writableLength === 0
    socket.write(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end))
    return socket.writableLength === 0
  }

  /** Writes what was read and pauses `from` (null for the last piece) while the bytes are pending. */
  relay(input: Buffer, start: number, end: number, from: Wire | null): void {
    if (start === end) return
    if (input !== shared) {
      // The reader's private buffer, or node's own: nobody writes into it before the reader goes on.
      if (!this.write(input, start, end) && from) this.holdBack(from)
      return
    }
    slab.reserve(end - start)
    const stop = slab.at + input.copy(slab.buffer, slab.at, start, end)
    if (!this.writeSlab(stop) && from) this.holdBack(from)
  }

  /** Pauses `from` until this wire has drained. */
  holdBack(from: Wire): void {
    from.pause()
    this.#source = from
  }

  /** Forgets whom it holds back, and lets that one read on. */
  letGo(): void {
    const source = this.#source
    this.#source = null
    source?.resume()
  }

  /** Reads into a buffer of its own while much comes, so that it can be written without a copy. */
  stream(on: boolean): void {
    if (on === this.#streaming || !this.#userBuffer) return
    this.#streaming = on
    this.#next = on ? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES) : shared
  }

  pause(): void {
    if (this.paused) return
    this.paused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.closed) this.socket.resume()
  }

  /** Sends FIN after what was written. */
  end(): void {
    this.socket.end()
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Closes with RST, so that the peer does not take a cut message for a whole one. */
  reset(): void {
    this.socket.resetAndDestroy()
  }
}

let adoptable = true

/** Makes accepted sockets read through 'data' events: what the worker does when its self-check fails. */
export function useDataEvents(): void {
  adoptable = false
}
