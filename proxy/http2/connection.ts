import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { Client } from '../relay/client.ts'
import { MAX_HEAD_BYTES } from '../relay/head.ts'
import type { Peer } from '../relay/peer.ts'
import type { Relay } from '../relay/relay.ts'
import { requestHead } from './request-head.ts'
import { StreamWire } from './stream-wire.ts'

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

const CHUNK_END = Buffer.from('\r\n')

/** What serves one stream at a time: for the relay a connection that is kept alive. */
interface Lane {
  wire: StreamWire
  client: Client
}

/** An accepted connection that speaks HTTP/2. */
export class Http2Connection {
  #relay: Relay
  #peer: Peer
  #session: ServerHttp2Session
  #farewell = Infinity
  #free: Lane[] = []
  #busy = new Set<Lane>()
  #retiring = false
  /** It has had a request. */
  #used = false
  /** Monotonic milliseconds; 0 for none. */
  #deadline: number

  constructor(relay: Relay, peer: Peer, socket: TLSSocket) {
    this.#relay = relay
    this.#peer = peer
    this.#deadline = relay.now + IDLE_TIMEOUT_MS
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
    this.#session.on('goaway', () => (this.#farewell = relay.now + FAREWELL_MS))
    this.#session.on('close', () => this.#end())
    this.#session.on('stream', (stream, _headers, flags, rawHeaders) =>
      this.#accept(stream, flags, rawHeaders),
    )
  }

  #accept(stream: ServerHttp2Stream, flags: number, headers: string[]): void {
    this.#used = true
    // Those that came with it are taken too.
    if (this.#retiring) setImmediate(() => this.#session.close())
    const lane = this.#takeLane()
    try {
      this.#serve(lane, stream, flags, headers)
    } catch (error) {
      lane.wire.fail(error)
    }
  }

  #serve(lane: Lane, stream: ServerHttp2Stream, flags: number, headers: string[]): void {
    const hasBody = (flags & END_STREAM) === 0
    const head = requestHead(headers, hasBody)
    this.#busy.add(lane)
    this.#deadline = 0
    lane.wire.begin(stream)
    stream.on('close', () => this.#closed(lane))
    // Without a body it is left unread: so node closes it after the last write is done, not in its midst, with an error.
    if (hasBody) passBody(stream, lane.wire, head.chunked)
    lane.wire.receive(head.bytes, head.bytes.length)
  }

  #takeLane(): Lane {
    for (let lane = this.#free.pop(); lane; lane = this.#free.pop()) if (!lane.wire.closed) return lane
    const wire = new StreamWire()
    const client = new Client(this.#relay, this.#peer, wire)
    this.#relay.serve(client)
    return { wire, client }
  }

  #closed(lane: Lane): void {
    const usable = lane.client.idle && !this.#session.closed
    lane.wire.leave(!usable)
    if (usable) this.#free.push(lane)
    this.#busy.delete(lane)
    if (this.#busy.size === 0) this.#deadline = this.#relay.now + IDLE_TIMEOUT_MS
  }

  #end(): void {
    for (const { wire } of this.#free.splice(0)) wire.destroy()
    this.#relay.forgetHttp2(this)
  }

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    if (now > this.#farewell) this.#session.destroy()
    else if (this.#deadline !== 0 && now > this.#deadline) this.#session.close()
    for (const { wire } of this.#busy) wire.tick(now)
  }

  /**
   * Lets the connection end after the requests under way; without one yet, after its first. What is on its way from
   * the client is refused, which tells that it may be sent again (RFC 9113 6.8, 8.7): node has no earlier notice, as
   * after any GOAWAY of its own it ignores new streams.
   */
  retire(): void {
    this.#retiring = true
    if (this.#used) this.#session.close()
    else this.#deadline = this.#relay.now + FIRST_REQUEST_MS
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#session.destroy()
  }
}

/** Gives the body of a request to the relay, in chunks where it has no length. */
function passBody(stream: ServerHttp2Stream, wire: StreamWire, chunked: boolean): void {
  const give = (bytes: Buffer) => wire.receive(bytes, bytes.length)
  stream.on('data', (data: Buffer) => {
    if (chunked) give(Buffer.from(`${data.length.toString(16)}\r\n`))
    give(data)
    if (chunked) give(CHUNK_END)
  })
  if (!chunked) return
  let trailers = ''
  stream.on('trailers', (_headers: unknown, _flags: number, fields: string[]) => {
    for (let index = 0; index < fields.length; index += 2)
      trailers += `${fields[index]}: ${fields[index + 1]}\r\n`
  })
  stream.on('end', () => {
    if (!stream.aborted) give(Buffer.from(`0\r\n${trailers}\r\n`, 'latin1'))
  })
}
