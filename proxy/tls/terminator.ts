import type { Socket } from 'node:net'
import type { SecureContext, Server, TLSSocket } from 'node:tls'
import { log } from '../log.ts'
import { crypto, tls } from '../modules.ts'
import type { CertificateFiles } from '../protocol.ts'
import { ChallengeResponder, type TlsChallenges } from './challenges.ts'
import { SecureContexts } from './contexts.ts'

/** A handshake takes two or three round trips, however slow they are. */
const HANDSHAKE_TIMEOUT_MS = 10_000

/**
 * Ciphers that authenticate what they encrypt and have forward secrecy, as HTTP/2 demands of TLS 1.2 (RFC 9113 9.2.2). AES
 * with 128 bits comes first: its handshake uses SHA-256, which processors compute faster than SHA-384.
 */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':')

/** A connection whose handshake is under way. */
interface Handshake {
  socket: Socket
  done: (socket: TLSSocket) => void
  /** Forgets it with its connection. */
  forget: () => void
  /** Monotonic milliseconds. */
  deadline: number
}

/** Does the TLS handshakes: the certificate by SNI, the protocol by ALPN (RFC 7301), resumption by ticket. */
export class TlsTerminator {
  #find: (host: string) => CertificateFiles | undefined
  #challenges: ChallengeResponder
  #contexts = new SecureContexts()
  /** By the addresses of both ends, oldest first. */
  #handshakes = new Map<string, Handshake>()
  #server: Server

  /** `find` returns the certificate of a host, `challenges` the proofs for authorities. */
  constructor(find: (host: string) => CertificateFiles | undefined, challenges: () => TlsChallenges) {
    this.#find = find
    this.#challenges = new ChallengeResponder(challenges)
    // This server never listens: it is given connections.
    this.#server = tls().createServer({
      ALPNProtocols: ['h2', 'http/1.1'],
      // Without a certificate the handshake fails with an alert that says so.
      SNICallback: (host, choose) => choose(null, this.#contextOf(host)),
      minVersion: 'TLSv1.2',
      ciphers: CIPHERS,
      // Devices without AES instructions put ChaCha20 first, and get it (SSL_CTX_set_options(3)).
      honorCipherOrder: true,
      // Clients of TLS 1.2 must not renegotiate: that costs the server more than the client.
      secureOptions: crypto().constants.SSL_OP_PRIORITIZE_CHACHA | crypto().constants.SSL_OP_NO_RENEGOTIATION,
      // The default is the command line, which differs between versions: a session would not resume after an upgrade.
      sessionIdContext: 'deployer-proxy',
    })
    this.#server.on('secureConnection', (socket) => {
      const key = keyOf(socket)
      const handshake = this.#handshakes.get(key)
      if (!handshake) return void socket.destroy()
      this.#handshakes.delete(key)
      handshake.socket.off('close', handshake.forget)
      try {
        handshake.done(socket)
      } catch (error) {
        log('error', 'a connection failed and is closed', { error: (error as Error).stack })
        socket.destroy()
      }
    })
    // Clients that fail the handshake are not worth a log line.
    this.#server.on('tlsClientError', (_error, socket) => socket.destroy())
  }

  /** Begins the handshake on an accepted socket; `done` is called when it has succeeded. `now` is monotonic milliseconds. */
  accept(socket: Socket, now: number, done: (socket: TLSSocket) => void): void {
    const key = keyOf(socket)
    // A client that has already left has no address.
    if (socket.remoteAddress === undefined) return void socket.destroy()
    const forget = () => {
      if (this.#handshakes.get(key)?.socket === socket) this.#handshakes.delete(key)
    }
    this.#handshakes.set(key, { socket, done, forget, deadline: now + HANDSHAKE_TIMEOUT_MS })
    socket.on('close', forget)
    socket.allowHalfOpen = false
    const begin = () => void this.#server.emit('connection', socket)
    if (this.#challenges.isOpen) this.#challenges.receive(socket, begin)
    else begin()
  }

  /** Sets the keys, 48 bytes: sessions made under the same keys resume, whichever process made them. */
  setTicketKeys(keys: Buffer): void {
    this.#server.setTicketKeys(keys)
  }

  /** Ends handshakes that took too long. */
  tick(now: number): void {
    for (const { socket, deadline } of this.#handshakes.values()) {
      if (deadline > now) return
      socket.destroy()
    }
  }

  /** Ends every handshake under way. */
  close(): void {
    for (const { socket } of this.#handshakes.values()) socket.destroy()
  }

  #contextOf(host: string): SecureContext | undefined {
    const files = this.#find(host)
    return files && this.#contexts.get(files)
  }
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`
}
