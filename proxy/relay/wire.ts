import { connect, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** What one read takes at most; also the size of the private buffer of a connection that streams. */
export const READ_BUFFER_BYTES = 64 * 1024

/** Outgoing bytes wait here; a slab that slow receivers still hold is replaced, so one pins no more than this. */
const SLAB_BYTES = 512 * 1024

const KEEP_ALIVE_PROBE_MS = 60_000

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

/** One end of what is relayed: writes that say whether they are done, and reads that can be held back. */
export abstract class Wire {
  owner!: WireOwner
  /** Messages are framed by the protocol below: chunks have no meaning, and an end is no FIN. */
  readonly frames: boolean = false
  paused = false
  closed = false
  /** The wire that was paused until this one has drained. */
  #source: Wire | null = null

  /** Whether bytes written have not all gone to the kernel. */
  abstract get pending(): boolean
  /** Writes the slab's bytes from its place to `end`. False: they are pending. */
  abstract writeSlab(end: number): boolean
  /** Writes bytes that stay as they are until they are sent. False: they are pending. */
  abstract write(bytes: Buffer, start: number, end: number): boolean
  /** Writes what was read and pauses `from` (null for the last piece) while the bytes are pending. */
  abstract relay(input: Buffer, start: number, end: number, from: Wire | null): void
  /** The answer to one request is complete. */
  abstract answered(): void
  /** Reads into a buffer of its own while much comes, so that it can be written without a copy. */
  abstract stream(on: boolean): void
  /** Has TCP find out that the peer is gone. */
  abstract keepAlive(): void
  /** Sends FIN after what was written. */
  abstract end(): void
  abstract destroy(): void
  /** Ends so that the peer does not take a cut message for a whole one. */
  abstract reset(): void
  protected abstract stopReading(): void
  protected abstract goOnReading(): void

  pause(): void {
    if (this.paused) return
    this.paused = true
    this.stopReading()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.closed) this.goOnReading()
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

  protected drained(): void {
    this.letGo()
    this.owner.onDrain()
  }

  protected gone(): void {
    if (this.closed) return
    this.closed = true
    this.owner.onClose()
  }
}

interface Handle {
  readStart?: unknown
  useUserBuffer?: unknown
}

/** A TCP connection, encrypted or not: reads into the shared buffer where it can. */
export class SocketWire extends Wire {
  #socket: Socket = null!
  #next: Buffer | undefined = shared
  #streaming = false
  /** False where node gives the data as 'data' events, in buffers of their own. */
  #userBuffer = true
  #encrypted = false
  #written: (() => void) | undefined

  /**
   * Takes over an accepted socket. Documented API cannot give an accepted socket a read buffer (only `net.connect`
   * takes `onread`), so its handle is moved into a socket that has one; where that is not possible, 'data' events
   * do the same for about a tenth more CPU.
   */
  accept(accepted: Socket): void {
    const holder = accepted as unknown as { _handle: Handle | null }
    const handle = holder._handle
    if (!adoptable || typeof handle?.useUserBuffer !== 'function') return this.#acceptWithEvents(accepted)
    holder._handle = null
    this.#attach(
      new Socket({ handle, allowHalfOpen: true, writableHighWaterMark: 1, onread: this.#onread() } as object),
    )
    this.#socket.resume()
  }

  /** Takes over a socket whose TLS handshake is done. */
  acceptEncrypted(accepted: TLSSocket): void {
    this.#encrypted = true
    // During the handshake an end was the end of all; now the client may end its half and still get its answer.
    accepted.allowHalfOpen = true
    // Its buffer is larger than a write, so that it tells of no drain.
    this.#written = () => {
      if (accepted.writableLength === 0) this.drained()
    }
    this.#acceptWithEvents(accepted)
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
    this.#socket.resume()
  }

  #acceptWithEvents(accepted: Socket): void {
    this.#userBuffer = false
    this.#attach(accepted)
    accepted.on('data', (data: Buffer) => this.owner.onRead(data, data.length))
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
    this.#socket = socket
    if (!this.#encrypted) {
      socket.on('drain', () => {
        if (socket.writableLength === 0) this.drained()
      })
    }
    socket.on('end', () => this.owner.onEnd())
    // The error is told by the close that follows it.
    socket.on('error', () => {})
    socket.on('close', () => this.gone())
  }

  override get pending(): boolean {
    return this.#socket.writableLength > 0
  }

  override writeSlab(end: number): boolean {
    // TLS has taken a write that did not have to wait for another when it returns, whenever it reports that.
    const taken = this.#encrypted && this.#socket.writableLength === 0
    if (this.write(slab.buffer, slab.at, end)) return true
    if (!taken) slab.at = end
    return false
  }

  override write(bytes: Buffer, start: number, end: number): boolean {
    const socket = this.#socket
    if (start === end || !socket.writable) return socket.writableLength === 0
    socket.write(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#written)
    return socket.writableLength === 0
  }

  override relay(input: Buffer, start: number, end: number, from: Wire | null): void {
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

  override answered(): void {}

  override stream(on: boolean): void {
    if (on === this.#streaming || !this.#userBuffer) return
    this.#streaming = on
    this.#next = on ? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES) : shared
  }

  override keepAlive(): void {
    this.#socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
  }

  override end(): void {
    this.#socket.end()
  }

  override destroy(): void {
    this.#socket?.destroy()
  }

  override reset(): void {
    this.#socket.resetAndDestroy()
  }

  protected override stopReading(): void {
    this.#socket.pause()
  }

  protected override goOnReading(): void {
    this.#socket.resume()
  }
}

let adoptable = true

/** Makes accepted sockets read through 'data' events: what the worker does when its self-check fails. */
export function useDataEvents(): void {
  adoptable = false
}
