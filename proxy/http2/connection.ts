import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { Client, type AcceptingWorker } from '../relay/client.ts'
import type { Peer } from '../relay/peer.ts'
import { LINGER_MS, READER_TIMEOUT_MS } from '../relay/waits.ts'
import { requestHead } from './request-head.ts'
import { StreamWire, type Progress } from './stream-wire.ts'

/** Requests at a time of one connection; browsers are told that 100 or more is usual (RFC 9113 6.5.2). */
const MAX_STREAMS = 128
/** What a client may send ahead of an upstream that reads slowly: of one request, and of all of a connection. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 1024 * 1024
/** Pairs that node reads, crumbs of cookies and pseudo fields included; the relay counts the fields that are left. */
const MAX_PAIRS = 1_000
/** A client that says that it goes has this long for what is under way. */
const FAREWELL_MS = 10 * 60_000
const KEEP_ALIVE_PROBE_MS = 60_000
const IDLE_TIMEOUT_MS = 75_000
/** How long a connection that came late waits for its first request. */
const FIRST_REQUEST_MS = 1_000
const END_STREAM = 1
/** A code of RST_STREAM: the request may be sent again (RFC 9113 8.7). */
const REFUSED_STREAM = 7

/** The worker that a connection was accepted in. */
export interface Http2Worker extends AcceptingWorker {
  /** Looks after the requests of a client. */
  serve(client: Client): void
  /** Counts a stream beside the first; false when its address has too many. */
  takePlace(peer: Peer): boolean
  /** Such a stream has ended. */
  leavePlace(peer: Peer): void
  /** The connection is gone. */
  forgetHttp2(connection: Http2Connection): void
}

/** What serves one stream at a time: for the relay a connection that is kept alive. */
interface Lane {
  wire: StreamWire
  client: Client
}

/** An accepted connection that speaks HTTP/2. */
export class Http2Connection {
  #worker: Http2Worker
  #peer: Peer
  #socket: TLSSocket
  #session: ServerHttp2Session
  #farewell = Infinity
  #free: Lane[] = []
  #busy = new Set<Lane>()
  #retiring = false
  /** It has had a request. */
  #used = false
  /** Monotonic milliseconds; 0 for none. */
  #deadline: number
  /** When it must be gone, once it is closed and nothing is under way. */
  #goneBy = Infinity
  #progress: Progress = { at: 0 }

  constructor(worker: Http2Worker, peer: Peer, socket: TLSSocket) {
    this.#worker = worker
    this.#peer = peer
    this.#socket = socket
    this.#deadline = worker.now + IDLE_TIMEOUT_MS
    // A stream has no other limit in time, and node lets no one near the socket of a session.
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
    this.#session = process.getBuiltinModule('node:http2').performServerHandshake(socket, {
      maxHeaderListPairs: MAX_PAIRS,
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: MAX_HEAD_BYTES,
      },
    })
    this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
    this.#session.on('error', () => {})
    this.#session.on('goaway', () => (this.#farewell = worker.now + FAREWELL_MS))
    this.#session.on('close', () => this.#end())
    this.#session.on('stream', (stream, _headers, flags, rawHeaders) =>
      this.#accept(stream, flags, rawHeaders),
    )
  }

  #accept(stream: ServerHttp2Stream, flags: number, headers: string[]): void {
    this.#used = true
    // Those that came with it are taken too.
    if (this.#retiring) setImmediate(() => this.#session.close())
    // Each costs as much as a connection of HTTP/1.1.
    if (this.#busy.size > 0 && !this.#worker.takePlace(this.#peer)) {
      stream.on('error', () => {})
      return stream.close(REFUSED_STREAM)
    }
    const lane = this.#takeLane()
    try {
      this.#serve(lane, stream, flags, headers)
    } catch (error) {
      lane.wire.fail(error)
    }
  }

  #serve(lane: Lane, stream: ServerHttp2Stream, flags: number, headers: string[]): void {
    this.#busy.add(lane)
    this.#deadline = 0
    lane.wire.begin(stream)
    stream.on('close', () => this.#closed(lane))
    const head = requestHead(headers, (flags & END_STREAM) === 0)
    // Without a body it is left unread: so node closes it after the last write is done, not in its midst, with an error.
    if (head.hasBody) passBody(stream, lane.wire, head.chunked)
    lane.wire.receive(head.bytes, head.bytes.length)
  }

  #takeLane(): Lane {
    for (let lane = this.#free.pop(); lane; lane = this.#free.pop()) if (!lane.wire.closed) return lane
    const wire = new StreamWire(this.#progress)
    const client = new Client(this.#worker, this.#peer, wire)
    this.#worker.serve(client)
    return { wire, client }
  }

  #closed(lane: Lane): void {
    const usable = lane.client.idle && !this.#session.closed
    lane.wire.leave(!usable)
    if (usable) this.#free.push(lane)
    this.#busy.delete(lane)
    if (this.#busy.size > 0) this.#worker.leavePlace(this.#peer)
    else this.#deadline = this.#worker.now + IDLE_TIMEOUT_MS
  }

  #end(): void {
    for (const { wire } of this.#free.splice(0)) wire.destroy()
    this.#worker.forgetHttp2(this)
  }

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    if (now > this.#farewell || now > this.#goneBy) return this.cut()
    if (this.#deadline !== 0 && now > this.#deadline) this.#session.close()
    this.#watchEnd(now)
    for (const { wire } of this.#busy) wire.tick(now)
  }

  /** A client that does not close its end, or takes nothing of what is left, is not waited for. */
  #watchEnd(now: number): void {
    if (this.#session.destroyed) this.#goneBy = Math.min(this.#goneBy, now + LINGER_MS)
    else if (this.#session.closed && this.#busy.size === 0)
      this.#goneBy = Math.min(this.#goneBy, now + READER_TIMEOUT_MS)
  }

  /**
   * Lets the connection end after the requests under way; without one yet, after its first. What is on its way from
   * the client is refused, which tells that it may be sent again (RFC 9113 6.8, 8.7): node has no earlier notice, as
   * after any GOAWAY of its own it ignores new streams.
   */
  retire(): void {
    this.#retiring = true
    if (this.#used) this.#session.close()
    else this.#deadline = this.#worker.now + FIRST_REQUEST_MS
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#session.destroy()
    this.#socket.destroy()
  }
}

/** Gives the body of a request to the relay, in chunks where it has no length. */
function passBody(stream: ServerHttp2Stream, wire: StreamWire, chunked: boolean): void {
  const give = (bytes: Buffer) => wire.receive(bytes, bytes.length)
  stream.on('data', (data: Buffer) => give(chunked ? chunkOf(data) : data))
  if (!chunked) return
  let trailers = ''
  stream.on('trailers', (_headers: unknown, _flags: number, fields: string[]) => {
    for (let index = 0; index < fields.length; index += 2)
      trailers += `${fields[index]}: ${fields[index + 1]}\r\n`
  })
  stream.on('end', () => {
    // That a stream of HEAD was cut only its end tells: node has ended the other half at once.
    if (!stream.aborted && !stream.closed) give(Buffer.from(`0\r\n${trailers}\r\n`, 'latin1'))
  })
}

/** A chunk in one piece: each piece is a write of its own. */
function chunkOf(data: Buffer): Buffer {
  const size = `${data.length.toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(size.length + data.length + 2)
  chunk.write(size, 'latin1')
  data.copy(chunk, size.length)
  chunk.write('\r\n', size.length + data.length, 'latin1')
  return chunk
}
