import { BlockList, isIPv6, type Socket } from 'node:net'
import { plainAddress } from '../edge/addresses.ts'
import { ascii, latin1 } from '../http1/bytes.ts'
import { isHost } from '../http1/field-values.ts'
import { networkOf } from '../networks.ts'
import type { Routes } from '../routes/routes.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * How much of the end of a proxy chain is read: about twenty addresses. What comes before the entries of trusted proxies was
 * written by the client and proves nothing.
 */
const MAX_CHAIN_BYTES = 1024

/** The other end of an accepted connection, and what upstreams are told about it. */
export class Peer {
  readonly address: string
  /** The network whose connections it is counted with. */
  readonly network: string
  readonly trusted: boolean
  /** Whether the limit of connections per network applies to it. */
  readonly capped: boolean
  /** The forwarding fields for an untrusted peer, up to the value of X-Forwarded-Host. */
  readonly fields: Uint8Array
  /** Whether it uses TLS with the relay. */
  readonly secure: boolean
  /** For a connection over which several hosts can be requested: the host whose certificate it was made with. Else null. */
  serverName: string | null = null
  readonly #port: number

  constructor(address: string, port: number, secure: boolean, routes: Routes) {
    this.address = address
    this.secure = secure
    this.#port = port
    this.trusted = routes.trusts(address)
    this.network = networkOf(address)
    this.capped = !this.trusted && !loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    this.fields = ascii(this.#lines(address, address, this.#protocol, String(port)))
  }

  static of(socket: Socket, secure: boolean, routes: Routes): Peer {
    const address = socket.remoteAddress ?? '0.0.0.0'
    // On a dual-stack socket, IPv4 clients appear as ::ffff:192.0.2.1.
    const plain = address.startsWith('::ffff:') ? address.slice(7) : address
    return new Peer(plain, socket.localPort ?? 0, secure, routes)
  }

  get #protocol(): string {
    return this.secure ? 'https' : 'http'
  }

  /**
   * Returns the client's address, as in X-Real-IP, with IPv4 written as such. `given` are the forwarding fields of a trusted
   * peer, null for others.
   */
  clientAddress(given: Map<string, string> | null, routes: Routes): string {
    return given ? plainAddress(clientIn(this.#chain(given), routes)) : this.address
  }

  /** Whether the client of a request uses TLS, with the relay or with the trusted peer that sent these forwarding fields. */
  isSecure(given: Map<string, string> | null): boolean {
    return this.secure || given?.get('x-forwarded-proto') === 'https'
  }

  #chain(given: Map<string, string>): string[] {
    return lastOf(`${given.get('x-forwarded-for') ?? ''},${this.address}`)
  }

  /** Returns the forwarding fields for a request of a trusted peer: what it sent, extended, with X-Forwarded-Host. */
  forwardedFields(given: Map<string, string>, host: string, routes: Routes): string {
    const addresses = this.#chain(given)
    const client = clientIn(addresses, routes)
    const givenProtocol = given.get('x-forwarded-proto')
    const protocol = givenProtocol === 'https' || givenProtocol === 'http' ? givenProtocol : this.#protocol
    const port = given.get('x-forwarded-port') ?? ''
    const givenHost = Buffer.from(given.get('x-forwarded-host') ?? '', 'latin1')
    const forwardedHost = isHost(givenHost, 0, givenHost.length)
      ? latin1(givenHost, 0, givenHost.length)
      : host
    const shownPort = /^\d{1,5}$/.test(port) ? port : this.#portOf(protocol)
    return this.#lines(addresses.join(', '), client, protocol, shownPort) + forwardedHost
  }

  #portOf(protocol: string): string {
    if (protocol === this.#protocol) return String(this.#port)
    return protocol === 'https' ? '443' : '80'
  }

  #lines(chain: string, client: string, protocol: string, port: string): string {
    return (
      `X-Forwarded-For: ${chain}\r\nX-Real-IP: ${client}\r\nX-Forwarded-Proto: ${protocol}\r\n` +
      `X-Forwarded-Port: ${port}\r\nX-Forwarded-Host: `
    )
  }
}

/** Returns the address in a chain that is nearest to us and not that of a trusted proxy. */
function clientIn(addresses: readonly string[], routes: Routes): string {
  return addresses.findLast((part) => !isTrustedText(part, routes)) ?? addresses[0]!
}

/** Returns the last addresses of a chain, none of them truncated. */
function lastOf(chain: string): string[] {
  const start = chain.length > MAX_CHAIN_BYTES ? chain.indexOf(',', chain.length - MAX_CHAIN_BYTES) : 0
  return chain
    .slice(start)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function isTrustedText(address: string, routes: Routes): boolean {
  try {
    return routes.trusts(address)
  } catch {
    // Not an address, so not that of a trusted proxy: nothing nearer to the client can be known.
    return false
  }
}
