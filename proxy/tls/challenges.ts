import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { tls } from '../modules.ts'
import type { CertificateFiles } from '../protocol.ts'
import { SecureContexts } from './contexts.ts'

/** RFC 8737 section 6.2. */
const PROTOCOL = 'acme-tls/1'
/** As it is in a ClientHello (RFC 7301 section 3.1). */
const OFFER = Buffer.concat([Buffer.of(PROTOCOL.length), Buffer.from(PROTOCOL)])
/** RFC 8446 section 5.1: the type of a handshake record, and the bytes before its content. */
const HANDSHAKE = 22
const RECORD_HEAD_BYTES = 5
/** A longer ClientHello does not come from a certificate authority. */
const MAX_HELLO_BYTES = 16_384

/** Certificates that prove to an authority that this is the right server (TLS-ALPN-01), by host. */
export type TlsChallenges = Readonly<Record<string, CertificateFiles>>

/**
 * Answers authorities that look for a proof in a handshake. They are recognised by the protocol that they offer, which node
 * considers only after the certificate. So while there are challenges, the first record is inspected before TLS begins.
 */
export class ChallengeResponder {
  readonly #challenges: () => TlsChallenges
  readonly #contexts = new SecureContexts()
  #server: Server | null = null

  constructor(challenges: () => TlsChallenges) {
    this.#challenges = challenges
  }

  /** Whether there are any challenges. */
  get isOpen(): boolean {
    for (const _host in this.#challenges()) return true
    return false
  }

  /** Takes a connection that asks for a proof; `others` is called for every other one, with all its bytes unread. */
  receive(socket: Socket, others: () => void): void {
    const chunks: Buffer[] = []
    let length = 0
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        chunks.push(chunk)
        length += chunk.length
      }
      const hello = Buffer.concat(chunks)
      if (!isWhole(hello) && !socket.readableEnded && !socket.destroyed) return
      socket.off('readable', look)
      socket.unshift(hello)
      if (hello.includes(OFFER)) this.#tls().emit('connection', socket)
      else others()
    }
    socket.on('readable', look)
    socket.on('error', () => socket.destroy())
  }

  #tls(): Server {
    if (this.#server) return this.#server
    const server = tls().createServer({
      ALPNProtocols: [PROTOCOL],
      SNICallback: (host, choose) => {
        const files = this.#challenges()[host.toLowerCase()]
        choose(null, files && this.#contexts.get(files))
      },
      minVersion: 'TLSv1.2',
    })
    // The proof is the handshake itself.
    server.on('secureConnection', (socket) => socket.end())
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    this.#server = server
    return server
  }
}

/** Whether the first record is complete, or is certainly not a handshake. */
function isWhole(bytes: Buffer): boolean {
  if (bytes.length < RECORD_HEAD_BYTES) return bytes.length > 0 && bytes[0] !== HANDSHAKE
  return (
    bytes[0] !== HANDSHAKE ||
    bytes.length >= Math.min(RECORD_HEAD_BYTES + bytes.readUInt16BE(3), MAX_HELLO_BYTES)
  )
}
