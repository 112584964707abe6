import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { monotonicMs } from '../clock.ts'
import { Http2Connection, type Http2Worker } from '../http2/connection.ts'
import type { ListenerSpec } from '../protocol.ts'
import { Client } from '../relay/client.ts'
import { Peer } from '../relay/peer.ts'
import { Routes } from '../routes/routes.ts'
import { OpenFiles } from '../sites/open-files.ts'
import { TlsTerminator } from '../tls/terminator.ts'
import { SocketWire } from '../wire/socket-wire.ts'
import { FirstRead } from './first-read.ts'
import { Places } from './places.ts'

/** All waits are counted in seconds; one timer looks after all connections. */
const TICK_MS = 500
/** Client connections of one worker: each may need a second descriptor, and 1,048,576 is the usual limit of a process. */
const MAX_CONNECTIONS = 100_000

/** Every connection of one worker. */
export class Relay implements Http2Worker {
  readonly routes = new Routes()
  /** The files of sites that are being sent. */
  readonly files = new OpenFiles()
  /** Monotonic milliseconds, as of the last tick. */
  now = monotonicMs()
  /** Answers say `Connection: close`, and connections end after them. */
  retiring = false
  /** Called when the last connection of a retiring relay has ended. */
  whenEmpty: () => void = () => {}
  /** The port of the first `https` listener: where plain requests are sent to. */
  securePort: number | null = null
  /** Connections that speak HTTP/1.1, and streams of HTTP/2. */
  #clients = new Set<Client>()
  #http2 = new Set<Http2Connection>()
  /** Made for the first connection that speaks TLS. */
  #terminator: TlsTerminator | null = null
  #ticketKeys: Buffer | null = null
  #connections = 0
  readonly #places: Places
  #timer = setInterval(() => {
    this.now = monotonicMs()
    // After a stall timers run before the sockets are looked at: what came in time is read before anything expires.
    setImmediate(() => this.#tick())
  }, TICK_MS)

  constructor(places = new Places()) {
    this.#places = places
  }

  get openConnections(): number {
    return this.#connections
  }

  get openRequests(): number {
    let open = 0
    for (const client of this.#clients) if (client.answering) open++
    return open
  }

  /** Serves a connection that a listener of this protocol accepted. */
  accept(socket: Socket, protocol: ListenerSpec['protocol']): void {
    const peer = Peer.of(socket, protocol === 'https', this.routes)
    if (!this.#admit(peer)) {
      socket.on('error', () => {})
      socket.resetAndDestroy()
      return
    }
    if (protocol === 'https') {
      socket.on('close', () => this.#leave(peer))
      return this.#tls().accept(socket, this.now, (secure) => this.#acceptEncrypted(secure, peer))
    }
    this.#acceptPlain(socket, peer)
  }

  #acceptPlain(socket: Socket, peer: Peer): void {
    const wire = new SocketWire()
    const client = new Client(this, peer, wire)
    this.serve(client)
    if (this.routes.h2c) {
      wire.owner = new FirstRead(client, () => {
        this.#clients.delete(client)
        wire.keepAlive()
        return this.#beginHttp2(peer, wire)
      })
    }
    wire.accept(socket)
  }

  #beginHttp2(peer: Peer, wire: SocketWire): Http2Connection {
    const connection = new Http2Connection(this, peer, wire)
    this.#http2.add(connection)
    if (this.retiring) connection.retire(false)
    return connection
  }

  /** Takes on a connection that speaks HTTP/1.1, or a stream of HTTP/2. */
  serve(client: Client): void {
    this.#clients.add(client)
  }

  /** A client is gone. */
  forget(client: Client): void {
    if (!this.#clients.delete(client)) return
    // A connection that is encrypted, or has streams, leaves as such.
    if (!client.peer.secure && !client.wire.frames) this.#leave(client.peer)
  }

  forgetHttp2(connection: Http2Connection): void {
    if (this.#http2.delete(connection) && !connection.peer.secure) this.#leave(connection.peer)
  }

  /** Sessions of TLS made under these 48 bytes resume. */
  setTicketKeys(keys: Buffer): void {
    this.#ticketKeys = keys
    this.#terminator?.setTicketKeys(keys)
  }

  #tls(): TlsTerminator {
    if (!this.#terminator) {
      this.#terminator = new TlsTerminator(
        (host) => this.routes.findCertificate(host),
        () => this.routes.tlsChallenges,
      )
      if (this.#ticketKeys) this.#terminator.setTicketKeys(this.#ticketKeys)
    }
    return this.#terminator
  }

  #acceptEncrypted(socket: TLSSocket, peer: Peer): void {
    const wire = new SocketWire()
    if (socket.alpnProtocol === 'h2') {
      peer.serverName = socket.servername || null
      this.#beginHttp2(peer, wire)
      wire.acceptEncrypted(socket)
      wire.keepAlive()
      return
    }
    this.serve(new Client(this, peer, wire))
    wire.acceptEncrypted(socket)
  }

  /** Counts a connection; false when there are too many, of its network or altogether. */
  #admit(peer: Peer): boolean {
    if (this.#connections >= MAX_CONNECTIONS || !this.takePlace(peer)) return false
    this.#connections++
    return true
  }

  /** Counts a connection, or a stream after the first of its connection; false when its network has too many. */
  takePlace({ network, capped }: Peer): boolean {
    return !capped || this.#places.take(network, this.routes.maxConnectionsPerAddress)
  }

  leavePlace({ network, capped }: Peer): void {
    if (capped) this.#places.leave(network, this.routes.maxConnectionsPerAddress)
  }

  #leave(peer: Peer): void {
    this.#connections--
    this.leavePlace(peer)
    if (this.retiring && this.#connections === 0) this.whenEmpty()
  }

  /**
   * Resolves when no request to the instance is open; after `deadlineMs` those left are cut. New requests do not go
   * there any more when the table says so, which must come first.
   */
  async drain(name: string, deadlineMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#clients) if (client.instance?.name === name) client.cut()
    }, deadlineMs)
    const waits = this.routes.named(name).map((instance) => {
      instance.closeIdle()
      return new Promise<void>((resolve) => instance.whenIdle(resolve))
    })
    await Promise.all(waits)
    clearTimeout(timer)
  }

  /** Lets every connection end after its next answer; with `closeIdle` those that wait for a request end now. */
  retire(closeIdle: boolean): void {
    this.retiring = true
    if (closeIdle) for (const client of this.#clients) client.closeIdle()
    for (const connection of this.#http2) connection.retire(closeIdle)
    if (this.#connections === 0) this.whenEmpty()
  }

  /** Cuts every connection and stops the clock. */
  end(): void {
    clearInterval(this.#timer)
    for (const client of this.#clients) client.cut()
    for (const connection of this.#http2) connection.cut()
    this.#terminator?.close()
  }

  #tick(): void {
    for (const client of this.#clients) {
      try {
        client.tick(this.now)
      } catch (error) {
        client.wire.fail(error)
      }
    }
    for (const connection of this.#http2) {
      try {
        connection.tick(this.now)
      } catch (error) {
        connection.fault(error)
      }
    }
    this.#terminator?.tick(this.now)
    for (const instance of this.routes.instances()) instance.expireIdle(this.now)
  }
}
