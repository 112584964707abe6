import { log } from '../log.ts'
import type { Page } from './page.ts'

/** Handles the events of a wire. `input` is only valid during the call. */
export interface WireOwner {
  onRead(input: Buffer, length: number): void
  onDrain(): void
  /** The peer has sent its last byte. */
  onEnd(): void
  /** The socket is gone; called once. */
  onClose(): void
  /** Ends everything that depends on the wire, at once. */
  cut(): void
}

/** The origin of what is written, which can be paused. */
export interface Source {
  pause(): unknown
  resume(): unknown
}

/** One end of a relayed connection: its writes say whether they are done, and its reads can be held back. */
export abstract class Wire {
  owner!: WireOwner
  /** Whether the protocol below frames messages: chunks are not needed then, and an end is not a FIN. */
  readonly frames: boolean = false
  paused = false
  /** Whether it cannot be used: it is not open yet, or not any more. */
  closed = true
  /** How many bytes were ever written. */
  written = 0
  /** What is paused until this wire has drained. */
  #source: Source | null = null

  /** Whether not all written bytes have gone to the kernel. */
  abstract get pending(): boolean
  /**
   * Returns how many bytes of a page may be written now. Nothing should be read for it before asking. After 0, its owner
   * gets a drain event once there is room.
   */
  abstract room(): number
  /** Writes the slab's bytes from its place to `end`. False: they are pending. */
  abstract writeSlab(end: number): boolean
  /** Writes bytes that are not changed until they are sent. False: they are pending. */
  abstract write(bytes: Buffer, start: number, end: number): boolean
  /**
   * Writes bytes of a page, which is not changed until they are sent; with `last` they complete the message. False: they are
   * pending.
   */
  abstract writePage(page: Page, start: number, end: number, last: boolean): boolean
  /** Writes bytes that were read, and pauses `from` (null for the last piece) while they are pending. */
  abstract relay(input: Buffer, start: number, end: number, from: Wire | null): void
  /** The answer to one request is complete; `trailers` alternates names in lower case and values. */
  abstract answered(trailers: readonly string[]): void
  /** Turns a read buffer of its own on or off: with much to read, it saves a copy. */
  abstract stream(on: boolean): void
  /** Makes TCP detect whether the peer is gone. */
  abstract keepAlive(): void
  /** Sends FIN after what was written. */
  abstract end(): void
  /** The other end of a tunnel is gone without a FIN: tells the peer so after what was written, if the protocol can. */
  abstract breakOff(): void
  abstract destroy(): void
  /** Ends so that the peer does not take a truncated message for a complete one. */
  abstract reset(): void
  protected abstract stopReading(): void
  protected abstract startReading(): void

  /** Passes incoming bytes to the owner. */
  receive(input: Buffer, length: number): void {
    try {
      this.owner.onRead(input, length)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Limits a fault of this program to the connections that it concerns; otherwise it would end the worker. */
  fail(error: unknown): void {
    log('error', 'a connection failed and is closed', { error: (error as Error).stack })
    try {
      this.owner.cut()
      this.destroy()
    } catch {
      // The rest ends with its socket.
    }
  }

  /** The peer has sent its last byte. */
  protected peerEnded(): void {
    try {
      this.owner.onEnd()
    } catch (error) {
      this.fail(error)
    }
  }

  pause(): void {
    if (this.paused) return
    this.paused = true
    this.stopReading()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.closed) this.startReading()
  }

  /** Pauses `from` until this wire has drained. */
  holdBack(from: Source): void {
    from.pause()
    // Another source was held back before, such as an instance's interim answer before a compressed body.
    if (this.#source !== from) this.#source?.resume()
    this.#source = from
  }

  /** Resumes what it holds back, and forgets it. */
  releaseSource(): void {
    const source = this.#source
    this.#source = null
    source?.resume()
  }

  protected drained(): void {
    try {
      this.releaseSource()
      this.owner.onDrain()
    } catch (error) {
      this.fail(error)
    }
  }

  protected gone(): void {
    if (this.closed) return
    this.closed = true
    try {
      this.owner.onClose()
    } catch (error) {
      this.fail(error)
    }
  }
}
