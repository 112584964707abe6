import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { monotonicMs } from '../clock.ts'
import { Guards } from '../edge/guards.ts'
import { Http2Connection, type Http2Worker } from '../http2/connection.ts'
import type { ListenerSpec } from '../protocol.ts'
import { AccessLog } from '../relay/access-log.ts'
import { Client } from '../relay/client.ts'
import { Peer } from '../relay/peer.ts'
import { Routes } from '../routes/routes.ts'
import { OpenFiles } from '../sites/open-files.ts'
import { TlsTerminator } from '../tls/terminator.ts'
import { SocketWire } from '../wire/socket-wire.ts'
import { FirstRead } from './first-read.ts'
import { ConnectionLimits } from './connection-limits.ts'

/** All timeouts are counted in seconds, so one timer checks all connections. */
const TICK_MS = 500
/** Max client connections of one worker: each may need a second descriptor, and a process usually has 1,048,576. */
const MAX_CONNECTIONS = 100_000

/** Every connection of one worker. */
export class Relay implements Http2Worker {
  readonly routes = new Routes()
  readonly guards: Guards
  /** The files of sites that are being sent. */
  readonly files = new OpenFiles()
  readonly accessLog = new AccessLog()
  /** Monotonic milliseconds, as of the last tick. */
  now = monotonicMs()
  /** Whether answers say `Connection: close`, and connections end after them. */
  retiring = false
  /** Called when the last connection of a retiring relay has ended. */
  whenEmpty: () => void = () => {}
  /** The port of the first `https` listener, to which plain requests are redirected. */
  securePort: number | null = null
  /** Connections that speak HTTP/1.1, and streams of HTTP/2. */
  #clients = new Set<Client>()
  #http2 = new Set<Http2Connection>()
  /** Created for the first TLS connection. */
  #terminator: TlsTerminator | null = null
  #ticketKeys: Buffer | null = null
  #connections = 0
  readonly #limits: ConnectionLimits
  #timer = setInterval(() => {
    this.now = monotonicMs()
    // After a stall, timers run before sockets are read: read what came in time before anything expires.
    setImmediate(() => this.#tick())
  }, TICK_MS)

  constructor(limits = new ConnectionLimits(), guards = new Guards()) {
    this.#limits = limits
    this.guards = guards
  }

  get openConnections(): number {
    return this.#connections
  }

  get openRequests(): number {
    let open = 0
    for (const client of this.#clients) if (client.answering) open++
    return open
  }

  /** Serves a connection accepted by a listener of this protocol. */
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

  /** Adds a connection that speaks HTTP/1.1, or a stream of HTTP/2. */
  serve(client: Client): void {
    this.#clients.add(client)
  }

  /** Removes a client that is gone. */
  forget(client: Client): void {
    if (!this.#clients.delete(client)) return
    // Encrypted connections, and connections with streams, are counted down when they close themselves.
    if (!client.peer.secure && !client.wire.frames) this.#leave(client.peer)
  }

  forgetHttp2(connection: Http2Connection): void {
    if (this.#http2.delete(connection) && !connection.peer.secure) this.#leave(connection.peer)
  }

  /** Sets the key of session tickets: TLS sessions made under these 48 bytes resume. */
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

  /** Counts a connection; false when its network, or the worker, has too many. */
  #admit(peer: Peer): boolean {
    if (this.#connections >= MAX_CONNECTIONS || !this.takePlace(peer)) return false
    this.#connections++
    return true
  }

  /** Counts a connection, or a second or later stream of one; false when its network has too many. */
  takePlace({ network, capped }: Peer): boolean {
    return !capped || this.#limits.take(network, this.routes.maxConnectionsPerAddress)
  }

  leavePlace({ network, capped }: Peer): void {
    if (capped) this.#limits.leave(network, this.routes.maxConnectionsPerAddress)
  }

  #leave(peer: Peer): void {
    this.#connections--
    this.leavePlace(peer)
    if (this.retiring && this.#connections === 0) this.whenEmpty()
  }

  /**
   * Resolves when no request to the instance is open; after `deadlineMs` the remaining ones are cut. The table must take the
   * instance out of rotation first, so that it gets no new requests.
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

  /** Closes the WebSockets of services that came under maintenance with a new table. */
  endMaintained(): void {
    for (const client of this.#clients) client.endIfMaintained()
  }

  /** Ends every connection after its next answer; with `closeIdle`, idle ones end now. */
  retire(closeIdle: boolean): void {
    this.retiring = true
    if (closeIdle) for (const client of this.#clients) client.closeIdle()
    for (const connection of this.#http2) connection.retire(closeIdle)
    if (this.#connections === 0) this.whenEmpty()
  }

  /** Cuts every connection and stops the timer. */
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
