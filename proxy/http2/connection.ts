import type { Peer } from '../relay/peer.ts'
import type { SocketWire } from '../wire/socket-wire.ts'
import type { WireOwner } from '../wire/wire.ts'
import { DUE, Deadlines } from './deadlines.ts'
import { HeaderEncoder } from './encoder.ts'
import { flushNext, flushSoon, type Flushable } from './flusher.ts'
import { FrameReader } from './frame-reader.ts'
import { CONNECTION_WINDOW_BYTES, acknowledgeSettings, greet } from './greeting.ts'
import { Intake } from './intake.ts'
import { Lanes, type LaneWorker } from './lanes.ts'
import { Output } from './output.ts'
import { PageTurns } from './page-turns.ts'
import { ConnectionFault, DEFAULT_WINDOW_BYTES, ERROR, FRAME, MAX_WINDOW_BYTES } from './protocol.ts'
import { Scheduler } from './scheduler.ts'
import type { PeerSettings } from './settings.ts'
import type { StreamHost, StreamWire } from './stream-wire.ts'

/** Bytes that are returned to the window at a time, since unread streams may hold all the rest of it. */
export const GIVEN_BACK_BYTES = 64 * 1024
/** The worker that accepted a connection. */
export interface Http2Worker extends LaneWorker {
  /** The connection is gone. */
  forgetHttp2(connection: Http2Connection): void
}

/** An accepted connection that speaks HTTP/2: sends its output, and decides how long it lasts. */
export class Http2Connection implements WireOwner, StreamHost, Flushable {
  readonly output: Output
  readonly encoder = new HeaderEncoder()
  readonly lanes: Lanes
  readonly pages = new PageTurns()
  readonly peer: Peer
  isQueued = false
  isUrgent = false
  window = DEFAULT_WINDOW_BYTES
  progressAt = 0
  /** The window of a new stream. */
  streamWindow = DEFAULT_WINDOW_BYTES
  readonly #worker: Http2Worker
  readonly #wire: SocketWire
  readonly #intake: Intake
  readonly #reader: FrameReader
  readonly #scheduler = new Scheduler()
  /** Bytes of DATA that were read but not returned to the window yet. */
  #owed = 0
  /** Whether it ends as soon as nothing is under way. */
  #leaving = false
  readonly #deadlines: Deadlines

  constructor(worker: Http2Worker, peer: Peer, wire: SocketWire) {
    this.#worker = worker
    this.#wire = wire
    this.peer = peer
    wire.owner = this
    this.output = new Output(wire)
    this.lanes = new Lanes(worker, peer, this)
    this.#intake = new Intake(this, CONNECTION_WINDOW_BYTES)
    this.#reader = new FrameReader(this.#intake)
    this.#deadlines = new Deadlines(worker.now)
    greet(this.output)
    this.touch()
  }

  // --- events of the wire

  onRead(input: Buffer, length: number): void {
    try {
      this.#reader.read(input, length)
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error
      return this.#fail(error.code)
    }
    this.#deadlines.read(this.#reader.isWithinFrame || this.#intake.isWithinHead, this.#worker.now)
    if (!this.#scheduler.isEmpty) this.touch()
    if (this.output.isBlocked) this.#wire.pause()
  }

  onDrain(): void {
    this.#deadlines.drained()
    this.flush()
    if (!this.output.isBlocked) this.#wire.resume()
  }

  onEnd(): void {
    this.cut()
  }

  onClose(): void {
    this.#reader.stop()
    this.lanes.end()
    this.output.drop()
    this.#worker.forgetHttp2(this)
  }

  // --- output

  touch(): void {
    flushSoon(this)
  }

  wait(stream: StreamWire): void {
    this.#scheduler.add(stream)
    this.touch()
  }

  flush(): void {
    if (this.#wire.closed) return
    this.#intake.giveBodies()
    this.lanes.settle()
    // Streams wait for earlier output. If the kernel took all of it at once, no drain event follows, so flush here.
    if (this.output.isBlocked) this.output.flush()
    this.#scheduler.run()
    this.output.flush()
    this.lanes.settle()
    if (this.#wire.pending) this.#deadlines.awaitDrain()
    if (this.lanes.busy.size > 0) this.#deadlines.busy()
    else if (this.#leaving && this.output.isSent) this.#close()
    else this.#deadlines.idle(this.#worker.now)
  }

  took(bytes: number): void {
    this.#owed += bytes
    if (this.#owed < GIVEN_BACK_BYTES) return
    this.output.numberFrame(FRAME.windowUpdate, 0, this.#owed)
    this.#intake.widen(this.#owed)
    this.#owed = 0
    this.touch()
  }

  release(stream: StreamWire, wasReset: boolean): void {
    this.#scheduler.remove(stream)
    stream.close()
    this.#intake.forget(stream.id, wasReset)
    if (this.#intake.isIdle) flushNext(this)
    else this.touch()
  }

  /** Takes the stream out of the queue while its priority changes. */
  reorder(stream: StreamWire, change: () => void): void {
    this.#scheduler.remove(stream)
    change()
    if (stream.pending) this.wait(stream)
  }

  // --- what the client says about the connection

  /** Adds bytes to the window of all streams. Throws ConnectionFault. */
  widen(bytes: number): void {
    this.window += bytes
    if (this.window > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR.flowControl, 'a window is too large')
  }

  /** Applies the client's settings. Throws ConnectionFault. */
  apply({ headerTableSizes, initialWindowSize }: PeerSettings): void {
    for (const size of headerTableSizes) this.encoder.resize(size)
    if (initialWindowSize !== undefined) {
      const more = initialWindowSize - this.streamWindow
      this.streamWindow = initialWindowSize
      for (const { wire } of this.lanes.busy) {
        if (!wire.isOpen) continue
        wire.widen(more)
        if (wire.window > MAX_WINDOW_BYTES)
          throw new ConnectionFault(ERROR.flowControl, 'a window is too large')
      }
    }
    acknowledgeSettings(this.output)
    this.touch()
  }

  settled(): void {
    this.#deadlines.settled()
  }

  /** The client will not open any more streams. */
  clientLeaves(): void {
    this.#leaving = true
    this.#deadlines.clientLeaves(this.#worker.now)
    this.touch()
  }

  // --- its end

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    const due = this.#deadlines.due(now, !this.#wire.paused, this.#wire.pending)
    if (due === DUE.end) return this.cut()
    if (due === DUE.head) return this.#fail(ERROR.enhanceYourCalm)
    if (due === DUE.settings) return this.#fail(ERROR.settingsTimeout)
    if (due === DUE.leave) this.#leave()
    if (this.lanes.busy.size === 0) {
      this.lanes.trim()
      this.#intake.rest()
    }
    for (const { wire } of this.lanes.busy) wire.tick(now)
  }

  /**
   * Lets the connection end after what is under way. The client gets two GOAWAY frames: the first asks it to open no more
   * streams; the second, once those already under way have arrived, names the last one served (RFC 9113 6.8).
   */
  retire(atOnce: boolean): void {
    if (this.#leaving || this.#deadlines.isLeaving) return
    if (atOnce) return this.#leave()
    this.output.goAway(MAX_WINDOW_BYTES, ERROR.none)
    this.touch()
    this.#deadlines.leaves(this.#worker.now)
  }

  #leave(): void {
    this.#deadlines.left()
    this.#leaving = true
    this.output.goAway(this.#intake.close(), ERROR.none)
    this.touch()
  }

  /** Ends the connection because of a fault of the client. */
  #fail(code: number): void {
    this.#reader.stop()
    this.#leaving = true
    this.#deadlines.failed()
    this.output.goAway(this.#intake.close(), code)
    this.lanes.end()
    // The connection is closed once this was sent.
    this.touch()
  }

  /** Closes the connection, with a time limit for clients that do not close their end or do not read what is left. */
  #close(): void {
    if (this.#deadlines.isClosing) return
    this.#wire.end()
    this.#deadlines.closes(this.#worker.now)
  }

  /** Limits a fault of this program to the connection; otherwise it would end the worker. */
  fault(error: unknown): void {
    this.#wire.fail(error)
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#wire.destroy()
  }
}
