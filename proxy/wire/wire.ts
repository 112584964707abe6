import { log } from '../log.ts'
import type { Page } from './page.ts'

/** Who deals with what happens on a wire. `input` is valid during the call alone. */
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

/** Where what is written comes from. */
export interface Source {
  pause(): unknown
  resume(): unknown
}

/** One end of what is relayed: writes that say whether they are done, and reads that can be held back. */
export abstract class Wire {
  owner!: WireOwner
  /** Messages are framed by the protocol below: chunks have no meaning, and an end is no FIN. */
  readonly frames: boolean = false
  paused = false
  /** Nothing goes over it: not yet, or no more. */
  closed = true
  /** What was paused until this wire has drained. */
  #source: Source | null = null

  /** Whether bytes written have not all gone to the kernel. */
  abstract get pending(): boolean
  /**
   * How many bytes of a page may be written now: none should be read for it before. At 0 its owner gets a drain once there is
   * room.
   */
  abstract room(): number
  /** Writes the slab's bytes from its place to `end`. False: they are pending. */
  abstract writeSlab(end: number): boolean
  /** Writes bytes that stay as they are until they are sent. False: they are pending. */
  abstract write(bytes: Buffer, start: number, end: number): boolean
  /**
   * Writes bytes of a page, which stays as it is until they are sent; with `last` the message is complete by them.
   * False: they are pending.
   */
  abstract writePage(page: Page, start: number, end: number, last: boolean): boolean
  /** Writes what was read and pauses `from` (null for the last piece) while the bytes are pending. */
  abstract relay(input: Buffer, start: number, end: number, from: Wire | null): void
  /** The answer to one request is complete; `trailers` are names in lower case and values in turn. */
  abstract answered(trailers: readonly string[]): void
  /** Reads into a buffer of its own while much comes, so that it can be written without a copy. */
  abstract stream(on: boolean): void
  /** Has TCP find out that the peer is gone. */
  abstract keepAlive(): void
  /** Sends FIN after what was written. */
  abstract end(): void
  /** The other end of a tunnel is gone and has sent no FIN: the peer is told after what was written, where there is a way to. */
  abstract breakOff(): void
  abstract destroy(): void
  /** Ends so that the peer does not take a cut message for a whole one. */
  abstract reset(): void
  protected abstract stopReading(): void
  protected abstract goOnReading(): void

  /** Gives the owner what came. */
  receive(input: Buffer, length: number): void {
    try {
      this.owner.onRead(input, length)
    } catch (error) {
      this.fail(error)
    }
  }

  /** A fault of ours ends the connections that it concerns, not the worker with all others. */
  fail(error: unknown): void {
    log('error', 'a connection met a fault and is closed', { error: (error as Error).stack })
    try {
      this.owner.cut()
      this.destroy()
    } catch {
      // What is left of it ends with its socket.
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
    if (!this.closed) this.goOnReading()
  }

  /** Pauses `from` until this wire has drained. */
  holdBack(from: Source): void {
    from.pause()
    // An instance whose 1xx was held back, whose answer is compressed now.
    if (this.#source !== from) this.#source?.resume()
    this.#source = from
  }

  /** Forgets whom it holds back, and lets that one read on. */
  letGo(): void {
    const source = this.#source
    this.#source = null
    source?.resume()
  }

  protected drained(): void {
    try {
      this.letGo()
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
