import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'
import { log, messageOf } from '../log.ts'
import type { Transport } from './forwarder.ts'
import { framed, unframe } from './message.ts'

const PORT = 53
/** If a gateway is not there, listening is retried after this long, then after twice that, and so on. */
const MIN_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 10_000
/** Max TCP connections of one gateway; names come over UDP except for long answers. */
const MAX_CONNECTIONS = 128
/** Idle timeout of a connection (RFC 7766 section 6.2.3). */
const IDLE_MS = 10_000
/** Larger messages are not questions. */
const MAX_QUESTION_BYTES = 4_096
/** A client that leaves this much of its answers unread is disconnected. */
const MAX_UNREAD_BYTES = 64 * 1024

type Answer = (message: Buffer, source: string, transport: Transport) => Promise<Buffer | null>

/** The resolver's sockets at one gateway, UDP and TCP. Every worker has its own on the same address. */
export class GatewayListener {
  #gateway: string
  #answer: Answer
  #udp: UdpSocket | null = null
  #tcp: Server | null = null
  #timer: NodeJS.Timeout | undefined
  #wait = 0
  #closed = false
  #loggedFailure = false

  constructor(gateway: string, answer: Answer) {
    this.#gateway = gateway
    this.#answer = answer
  }

  /** Tries to listen; on failure, it retries later. */
  async open(): Promise<void> {
    try {
      await this.#listenUdp()
      if (!this.#closed) await this.#listenTcp()
      if (this.#closed) return this.#shut()
      if (this.#loggedFailure) log('info', 'the resolver is listening again', { gateway: this.#gateway })
      this.#loggedFailure = false
      this.#wait = 0
    } catch (error) {
      this.#retry(error)
    }
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#shut()
  }

  #shut(): void {
    this.#udp?.close()
    this.#udp = null
    this.#tcp?.close()
    this.#tcp = null
  }

  /** Retries later: the bridge may be missing, or another program may hold the port. */
  #retry(error: unknown): void {
    this.#shut()
    if (this.#closed) return
    if (!this.#loggedFailure)
      log('warn', 'the resolver cannot listen; will retry', {
        gateway: this.#gateway,
        error: messageOf(error),
      })
    this.#loggedFailure = true
    this.#wait = Math.min(Math.max(this.#wait * 2, MIN_BACKOFF_MS), MAX_BACKOFF_MS)
    this.#timer = setTimeout(() => void this.open(), this.#wait)
    this.#timer.unref()
  }

  #listenUdp(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = createSocket({ type: 'udp4', reusePort: true })
      this.#udp = socket
      socket.once('error', reject)
      socket.on('message', (message, { address, port }) => {
        // A client at port 0 wants no answer (RFC 768), and none can be sent there.
        if (port !== 0) void this.#reply(socket, message, address, port)
      })
      socket.once('close', () => reject(new Error('closed')))
      socket.bind({ address: this.#gateway, port: PORT }, () => {
        socket.off('error', reject)
        // An answer that cannot be sent because its client is gone is lost like any datagram.
        socket.on('error', () => {})
        resolve()
      })
    })
  }

  async #reply(socket: UdpSocket, message: Buffer, address: string, port: number): Promise<void> {
    const answer = await this.#answer(message, address, 'udp')
    if (!answer || socket !== this.#udp) return
    socket.send(answer, port, address, () => {})
  }

  #listenTcp(): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = createServer((socket) => this.#serve(socket))
      this.#tcp = server
      server.maxConnections = MAX_CONNECTIONS
      server.once('error', reject)
      server.once('close', () => reject(new Error('closed')))
      server.listen({ host: this.#gateway, port: PORT, reusePort: true }, () => {
        server.off('error', reject)
        server.on('error', (error) =>
          log('error', 'the resolver failed', { gateway: this.#gateway, error: error.message }),
        )
        resolve()
      })
    })
  }

  #serve(socket: Socket): void {
    const source = socket.remoteAddress ?? ''
    let bytes: Buffer = Buffer.alloc(0)
    let isAnswering = false
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    // One question after the other, so that a client that sends many waits for itself.
    const next = async (): Promise<void> => {
      if (isAnswering) return
      isAnswering = true
      for (let frame = unframe(bytes); frame && !socket.destroyed; frame = unframe(bytes)) {
        bytes = frame.rest
        socket.pause()
        const answer = await this.#answer(frame.message, source, 'tcp')
        if (!answer || socket.writableLength > MAX_UNREAD_BYTES) socket.destroy()
        else socket.write(framed(answer))
      }
      isAnswering = false
      socket.resume()
    }
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece])
      const isTooLong = bytes.length >= 2 && bytes.readUInt16BE(0) > MAX_QUESTION_BYTES
      if (isTooLong) socket.destroy()
      else void next()
    })
  }
}
