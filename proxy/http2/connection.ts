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

/** So much is given back at a time: streams that nobody reads may hold all the rest of the window. */
export const GIVEN_BACK_BYTES = 64 * 1024
/** The worker that a connection was accepted in. */
export interface Http2Worker extends LaneWorker {
  /** The connection is gone. */
  forgetHttp2(connection: Http2Connection): void
}

/** An accepted connection that speaks HTTP/2: what goes out over it, and how long it lasts. */
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
  /** What a new stream's window is. */
  streamWindow = DEFAULT_WINDOW_BYTES
  readonly #worker: Http2Worker
  readonly #wire: SocketWire
  readonly #intake: Intake
  readonly #reader: FrameReader
  readonly #scheduler = new Scheduler()
  /** Bytes of DATA that were read and not given back. */
  #owed = 0
  /** It ends when nothing is under way. */
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

  // --- what happens on the wire

  onRead(input: Buffer, length: number): void {
    try {
      this.#reader.read(input, length)
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error
      return this.#fail(error.code)
    }
    this.#deadlines.read(this.#reader.isAmidFrame || this.#intake.isAmidHead, this.#worker.now)
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

  // --- what goes out

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
    // Streams wait for what was put together before; no drain follows what the kernel takes at once.
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

  /** Before the priority of a stream changes, and after. */
  reorder(stream: StreamWire, change: () => void): void {
    this.#scheduler.remove(stream)
    change()
    if (stream.pending) this.wait(stream)
  }

  // --- what the client says of the connection

  /** The client takes so much more of all streams. Throws ConnectionFault. */
  widen(bytes: number): void {
    this.window += bytes
    if (this.window > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR.flowControl, 'a window is too large')
  }

  /** Does as the client says of itself. Throws ConnectionFault. */
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

  /** The client opens no more streams. */
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
   * Lets the connection end after what is under way. The client is told twice: first that it should open no more
   * streams, and when what was on its way has come, which was the last (RFC 9113 6.8).
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

  /** Ends the connection for a fault of the client. */
  #fail(code: number): void {
    this.#reader.stop()
    this.#leaving = true
    this.#deadlines.failed()
    this.output.goAway(this.#intake.close(), code)
    this.lanes.end()
    // It is closed when this has gone.
    this.touch()
  }

  /** A client that does not close its end, or takes nothing of what is left, is not waited for. */
  #close(): void {
    if (this.#deadlines.isClosing) return
    this.#wire.end()
    this.#deadlines.closes(this.#worker.now)
  }

  /** A fault of ours ends the connection, not the worker with all others. */
  fault(error: unknown): void {
    this.#wire.fail(error)
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#wire.destroy()
  }
}
