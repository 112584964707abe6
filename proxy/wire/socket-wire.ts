import { connect, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { held, type Holder } from './held.ts'
import { LateEnd } from './late-end.ts'
import type { Page } from './page.ts'
import type { Pins } from './pins.ts'
import { poison } from './poison.ts'
import { slab } from './slab.ts'
import { Wire } from './wire.ts'

/** Max bytes of one read; also the size of the private buffer of a connection that streams. */
export const READ_BUFFER_BYTES = 64 * 1024

const KEEP_ALIVE_PROBE_MS = 60_000

/**
 * One read buffer for all connections: reading, the callback and copying out of it happen in one synchronous step, so idle
 * connections need no buffer. It is never passed to `write`.
 */
const shared = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES)

/** Whether these bytes stay unchanged until reading goes on: true for all but the shared buffer. */
export function staysUntilRead(input: Buffer): boolean {
  return input !== shared
}

/** node's name for the C++ side of a socket. */
interface Handle {
  useUserBuffer?: unknown
}

let adoptable = true

function nothing(): void {}

/** Takes the handle out of a socket, which cannot be used after that; null if that is not possible. */
function takeHandle(socket: Socket): Handle | null {
  const holder = socket as unknown as { _handle: Handle | null }
  const handle = holder._handle
  if (!adoptable || typeof handle?.useUserBuffer !== 'function') return null
  holder._handle = null
  return handle
}

/** A TCP connection, encrypted or not. It reads into the shared buffer if possible. */
export class SocketWire extends Wire implements Holder {
  heldBytes = 0
  /**
   * Whether what was received before a failed write is still read. A server that answers and closes before the request body
   * has ended resets the connection while the body is still being sent.
   */
  readsBeforeEnd = false
  #socket: Socket = null!
  #next: Buffer | undefined = shared
  #streaming = false
  /** False if node gives the data as 'data' events, in buffers of their own. */
  #userBuffer = true
  #encrypted = false
  /** Whether the other end is a client. */
  #isAccepted = false
  /** Pins of shared memory in which some of its outgoing bytes wait. */
  #pins: Pins[] | null = null
  #written: (() => void) | undefined
  /** Set when a write has failed and what came before is still read. */
  #lateEnd: LateEnd | null = null

  /**
   * Takes over an accepted socket. The documented API cannot give an accepted socket a read buffer (only `net.connect` takes
   * `onread`), so its handle is moved into a socket that has one. If that is not possible, 'data' events do the same for
   * about 10 % more CPU.
   */
  accept(accepted: Socket): void {
    this.#isAccepted = true
    const handle = takeHandle(accepted)
    if (!handle) return this.#acceptWithEvents(accepted)
    this.#attach(this.#adopt(handle))
    this.#socket.resume()
  }

  /** Takes over a socket whose TLS handshake is done. */
  acceptEncrypted(accepted: TLSSocket): void {
    this.#isAccepted = true
    this.#encrypted = true
    // During the handshake, an end closed the connection. From now on the client may end its half and still get its answer.
    accepted.allowHalfOpen = true
    const handle = takeHandle(accepted)
    if (!handle) return this.#acceptWithEvents(accepted)
    const socket = this.#adopt(handle)
    // node keeps the old socket as long as the handle; without the listeners of the handshake it takes less memory.
    accepted.removeAllListeners().on('error', nothing)
    // Does what a TLSSocket does for its handle: it frees the session with it and ends at a broken record. There is nothing
    // to do for later messages of TLS 1.3, and clients cannot renegotiate (SSL_CTX_set_options(3)).
    Object.assign(socket, { ssl: handle })
    const broken = () => void socket.destroy()
    Object.assign(handle, { onerror: broken, onhandshakestart: nothing, onhandshakedone: nothing })
    this.#attach(socket)
    socket.resume()
  }

  /** Opens a connection to an IP address; `connected` is called once it is open. */
  connect(host: string, port: number, connected: () => void): void {
    const options = {
      host,
      port,
      noDelay: true,
      allowHalfOpen: true,
      writableHighWaterMark: 1,
      autoSelectFamily: false,
    }
    const opened = () => {
      try {
        connected()
      } catch (error) {
        this.fail(error)
      }
    }
    const socket = connect({ ...options, onread: this.#onread() }, opened)
    this.#endAfterReading(socket)
    this.#attach(socket)
    socket.resume()
  }

  #endAfterReading(socket: Socket): void {
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (error?: NodeJS.ErrnoException) => {
      if (!this.readsBeforeEnd || error?.syscall !== 'write') return destroy(error)
      this.#lateEnd = new LateEnd(this, () => void destroy(error))
      return socket
    }
  }

  #adopt(handle: Handle): Socket {
    const onread = this.#onread()
    return new Socket({ handle, allowHalfOpen: true, writableHighWaterMark: 1, onread } as object)
  }

  #acceptWithEvents(accepted: Socket): void {
    this.#userBuffer = false
    // The buffer of such a socket is larger than a write, so it emits no drain.
    this.#written = () => {
      if (accepted.writableLength === 0) this.drained()
    }
    this.#attach(accepted)
    accepted.on('data', (data: Buffer) => this.receive(data, data.length))
  }

  #onread(): { buffer: () => Buffer; callback: (length: number, input: Uint8Array) => boolean } {
    return {
      // Node asks for a buffer once before the first and after each read; without an answer it keeps the last one.
      buffer: () => {
        const next = this.#next
        this.#next = undefined
        return next as Buffer
      },
      callback: (length, input) => {
        this.#lateEnd?.read()
        this.receive(input as Buffer, length)
        if (input === shared) poison(shared, 0, length)
        return !this.paused
      },
    }
  }

  #attach(socket: Socket): void {
    this.#socket = socket
    this.closed = false
    if (!this.#written) {
      socket.on('drain', () => {
        if (socket.writableLength === 0) this.drained()
      })
    }
    socket.on('end', () => this.peerEnded())
    // The close event that follows handles it.
    socket.on('error', nothing)
    socket.on('close', () => this.gone())
  }

  /** Whether `write` copies the bytes before it returns, as TLS does for a write that does not wait for another one. */
  get takesAtOnce(): boolean {
    return this.#encrypted
  }

  override get pending(): boolean {
    return this.#socket.writableLength > 0
  }

  /** Whether the connection is neither broken nor ended: later writes are discarded. */
  get takesWrites(): boolean {
    return this.#socket.writable
  }

  override room(): number {
    return this.pending ? 0 : Infinity
  }

  override writeSlab(end: number): boolean {
    const taken = this.takesAtOnce && this.#socket.writableLength === 0
    if (this.write(slab.buffer, slab.at, end)) return true
    if (taken) return false
    slab.at = end
    this.#pin(slab.pins)
    return false
  }

  override write(bytes: Buffer, start: number, end: number): boolean {
    return this.#write(bytes, start, end) || this.#hold(this.#socket.writableLength)
  }

  #write(bytes: Buffer, start: number, end: number): boolean {
    const socket = this.#socket
    this.written += end - start
    if (start !== end && socket.writable)
      socket.write(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#written)
    return socket.writableLength === 0
  }

  /** Counts at least so many bytes as held while something is pending. Returns false. */
  #hold(bytes: number): boolean {
    if (this.#isAccepted && !this.closed) held.set(this, Math.max(bytes, this.heldBytes))
    return false
  }

  #pin(pins: Pins): void {
    if (!this.#isAccepted || this.closed || this.#pins?.includes(pins)) return
    this.#pins ??= []
    this.#pins.push(pins.add())
  }

  override writePage(page: Page, start: number, end: number): boolean {
    for (const piece of page.pieces(start, end)) this.#write(piece, 0, piece.length)
    if (!this.pending) return true
    if (page.pins) this.#pin(page.pins)
    return this.#hold(page.heldBytes)
  }

  override relay(input: Buffer, start: number, end: number, from: Wire | null): void {
    if (start === end) return
    if (staysUntilRead(input)) {
      if (this.#write(input, start, end)) return
      this.#hold(input.length)
      if (from) this.holdBack(from)
      return
    }
    slab.reserve(end - start)
    const stop = slab.at + input.copy(slab.buffer, slab.at, start, end)
    if (!this.writeSlab(stop) && from) this.holdBack(from)
  }

  /** Does nothing: trailers were sent with the chunks. */
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

  /** Ends normally: a reset would discard what the kernel has not sent yet. */
  override breakOff(): void {
    this.end()
  }

  override destroy(): void {
    this.#socket?.destroy()
  }

  override reset(): void {
    // A TLS session without close_notify is recognised as truncated; only plain handles can be reset.
    if (this.#encrypted) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  giveUp(): void {
    this.#releaseHeld()
    this.reset()
  }

  protected override drained(): void {
    this.#releaseHeld()
    super.drained()
  }

  protected override gone(): void {
    this.#releaseHeld()
    super.gone()
  }

  #releaseHeld(): void {
    held.set(this, 0)
    if (!this.#pins) return
    for (const pins of this.#pins) pins.leave()
    this.#pins = null
  }

  protected override stopReading(): void {
    this.#socket.pause()
  }

  protected override startReading(): void {
    this.#socket.resume()
    this.#lateEnd?.look()
  }
}

/** Makes accepted sockets read through 'data' events; the worker does this if its self-check fails. */
export function useDataEvents(): void {
  adoptable = false
}
