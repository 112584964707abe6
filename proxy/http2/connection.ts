import { MAX_HEAD_BYTES } from '../http1/head.ts'
import type { Peer } from '../relay/peer.ts'
import { HEAD_TIMEOUT_MS, IDLE_TIMEOUT_MS, LINGER_MS, READER_TIMEOUT_MS } from '../relay/waits.ts'
import type { SocketWire } from '../wire/socket-wire.ts'
import type { WireOwner } from '../wire/wire.ts'
import { HeaderEncoder } from './encoder.ts'
import { flushNext, flushSoon, type Flushable } from './flusher.ts'
import { FrameReader } from './frame-reader.ts'
import { STREAM_WINDOW_BYTES } from './incoming-body.ts'
import { Intake } from './intake.ts'
import { Lanes, type LaneWorker } from './lanes.ts'
import { Output } from './output.ts'
import {
  ConnectionFault,
  DEFAULT_WINDOW_BYTES,
  ERROR,
  FLAG,
  FRAME,
  MAX_WINDOW_BYTES,
  SETTING,
} from './protocol.ts'
import { Scheduler } from './scheduler.ts'
import { settingsContent, type PeerSettings } from './settings.ts'
import type { StreamHost, StreamWire } from './stream-wire.ts'
import { MAX_STREAMS } from './streams.ts'

/** What a client may send ahead of upstreams that read slowly, of all of a connection. */
const CONNECTION_WINDOW_BYTES = 1024 * 1024
/** So much is given back at a time: streams that nobody reads may hold all the rest of the window. */
const GIVEN_BACK_BYTES = 64 * 1024
/** A client that says that it goes has this long for what is under way. */
const FAREWELL_MS = 10 * 60_000
/** What was on its way when the client was told to open no more streams has come by then (RFC 9113 6.8). */
const GOAWAY_NOTICE_MS = 1_000
const SETTINGS_ACK_TIMEOUT_MS = 30_000

const SETTINGS = settingsContent([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
  [SETTING.maxHeaderListSize, MAX_HEAD_BYTES],
  [SETTING.enableConnectProtocol, 1],
  [SETTING.noRfc7540Priorities, 1],
])

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
  // All in monotonic milliseconds, Infinity for never.
  #idleBy: number
  #headBy: number
  #settledBy: number
  #noticeUntil = Infinity
  #farewellBy = Infinity
  #drainedBy = Infinity
  #goneBy = Infinity

  constructor(worker: Http2Worker, peer: Peer, wire: SocketWire) {
    this.#worker = worker
    this.#wire = wire
    this.peer = peer
    wire.owner = this
    this.output = new Output(wire)
    this.lanes = new Lanes(worker, peer, this)
    this.#intake = new Intake(this, CONNECTION_WINDOW_BYTES)
    this.#reader = new FrameReader(this.#intake)
    this.#idleBy = worker.now + IDLE_TIMEOUT_MS
    this.#headBy = worker.now + HEAD_TIMEOUT_MS
    this.#settledBy = worker.now + SETTINGS_ACK_TIMEOUT_MS
    this.output.frame(FRAME.settings, 0, 0, SETTINGS)
    this.output.numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)
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
    const isAmidHead = this.#reader.isAmidFrame || this.#intake.isAmidHead
    if (!isAmidHead) this.#headBy = Infinity
    else if (this.#headBy === Infinity) this.#headBy = this.#worker.now + HEAD_TIMEOUT_MS
    if (!this.#scheduler.isEmpty) this.touch()
    if (this.output.isBlocked) this.#wire.pause()
  }

  onDrain(): void {
    this.#drainedBy = Infinity
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
    this.lanes.settle()
    // Streams wait for what was put together before; no drain follows what the kernel takes at once.
    if (this.output.isBlocked) this.output.flush()
    this.#scheduler.run()
    this.output.flush()
    this.lanes.settle()
    if (this.#wire.pending && this.#drainedBy === Infinity)
      this.#drainedBy = performance.now() + READER_TIMEOUT_MS
    if (this.lanes.busy.size > 0) this.#idleBy = Infinity
    else if (this.#leaving && this.output.isSent) this.#close()
    else if (this.#idleBy === Infinity) this.#idleBy = this.#worker.now + IDLE_TIMEOUT_MS
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
  apply({ headerTableSize, initialWindowSize }: PeerSettings): void {
    if (headerTableSize !== undefined) this.encoder.resize(headerTableSize)
    if (initialWindowSize !== undefined) {
      const more = initialWindowSize - this.streamWindow
      this.streamWindow = initialWindowSize
      for (const { wire } of this.lanes.busy) {
        wire.widen(more)
        if (wire.window > MAX_WINDOW_BYTES)
          throw new ConnectionFault(ERROR.flowControl, 'a window is too large')
      }
    }
    this.output.frame(FRAME.settings, FLAG.ack, 0, SETTINGS, 0, 0)
    this.touch()
  }

  settled(): void {
    this.#settledBy = Infinity
  }

  /** The client opens no more streams. */
  clientLeaves(): void {
    this.#leaving = true
    this.#farewellBy = Math.min(this.#farewellBy, this.#worker.now + FAREWELL_MS)
    this.touch()
  }

  // --- its end

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    if (now > this.#goneBy || now > this.#farewellBy || now > this.#drainedBy) return this.cut()
    // While we do not read, what was cut by our last look cannot be completed.
    if (now > this.#headBy && !this.#wire.paused) return this.#fail(ERROR.enhanceYourCalm)
    if (now > this.#settledBy) return this.#fail(ERROR.settingsTimeout)
    if (now > this.#noticeUntil || now > this.#idleBy) this.#leave()
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
    if (this.#leaving || this.#noticeUntil !== Infinity) return
    if (atOnce) return this.#leave()
    this.output.goAway(MAX_WINDOW_BYTES, ERROR.none)
    this.touch()
    this.#noticeUntil = this.#worker.now + GOAWAY_NOTICE_MS
  }

  #leave(): void {
    this.#noticeUntil = Infinity
    this.#idleBy = Infinity
    this.#leaving = true
    this.output.goAway(this.#intake.close(), ERROR.none)
    this.touch()
  }

  /** Ends the connection for a fault of the client. */
  #fail(code: number): void {
    this.#reader.stop()
    this.#leaving = true
    this.#headBy = Infinity
    this.#settledBy = Infinity
    this.output.goAway(this.#intake.close(), code)
    this.lanes.end()
    // It is closed when this has gone.
    this.touch()
  }

  /** A client that does not close its end, or takes nothing of what is left, is not waited for. */
  #close(): void {
    if (this.#goneBy !== Infinity) return
    this.#wire.end()
    this.#goneBy = this.#worker.now + (this.#wire.pending ? READER_TIMEOUT_MS : LINGER_MS)
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
