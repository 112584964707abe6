import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { messageOf } from '#server/errors.ts'
import type { Reach } from '#server/network/addresses.ts'
import { connectJudged, ForbiddenPlace, resolveJudged } from '#server/network/judged.ts'
import { randomHex } from '#server/ids.ts'
import { sameSecret } from '#server/secrets.ts'
import { createForwardGate, type ForwardPass } from './forward-gate.ts'
import { isOfHttp, outboundProxy } from './outbound-proxy.ts'

/** How long a host may take to accept a connection. */
const CONNECT_MS = 20_000
/** git and the dialer say at once where they want to connect. */
const GREETING_MS = 10_000
const KEY_BYTES = 16

/** SOCKS 5 (RFC 1928), user name and password (RFC 1929), and its replies. */
const VERSION = 5
const BY_PASSWORD = 2
const NO_METHOD = 0xff
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4
const REPLY = { granted: 0, forbidden: 2, unreachable: 4, refused: 5, unsupported: 7 }

/** The ports of the gate. */
interface Gate {
  /** For SOCKS. */
  port: number
  /** For HTTP, if the host has an outbound proxy of its own. */
  forwardPort: number
}

/**
 * The way out for git's programs: a SOCKS server on the loopback interface, or an HTTP proxy if the host itself has one.
 * They judge each place when it is requested, so that the same rules apply to redirects, submodules and names that resolve
 * to another address.
 */
export class Pass implements ForwardPass {
  readonly #key = randomHex(KEY_BYTES)
  readonly #gate: Gate
  readonly #reach: Reach
  readonly #hosts = new Set<string>()
  /** Why the last connection failed; null when it did not. */
  fault: { kind: 'refused' | 'unreachable'; message: string } | null = null

  constructor(gate: Gate, reach: Reach) {
    this.#gate = gate
    this.#reach = reach
    passes.set(this.#key, this)
  }

  /** Lets git's programs reach another host. */
  allow(host: string): void {
    this.#hosts.add(host)
  }

  /** Closes the pass: open connections stay, new ones are refused. */
  close(): void {
    passes.delete(this.#key)
  }

  /** The environment for git's programs (curl(1), `--socks5-hostname`). A SOCKS proxy of the host is used directly. */
  get environment(): Record<string, string> {
    const { port, forwardPort } = this.#gate
    const wayOut = (scheme: 'http' | 'https'): string => {
      const proxy = outboundProxy(scheme)
      if (proxy === null) return `socks5h://git:${this.#key}@127.0.0.1:${port}`
      return isOfHttp(proxy) ? `http://git:${this.#key}@127.0.0.1:${forwardPort}` : proxy.href
    }
    return {
      DEPLOYER_GIT_GATE: `${port}:${this.#key}`,
      // Otherwise git first sends requests without the key (git-config(1), http.proxyAuthMethod).
      GIT_HTTP_PROXY_AUTHMETHOD: 'basic',
      http_proxy: wayOut('http'),
      https_proxy: wayOut('https'),
    }
  }

  proxyFor(scheme: 'http' | 'https'): URL | null {
    return outboundProxy(scheme)
  }

  /**
   * Judges a place that is reached through the host's own proxy, which may resolve names that cannot be resolved here.
   * Throws when the place may not be reached; `fault` then says why.
   */
  async judge(host: string, port: number): Promise<void> {
    this.fault = null
    try {
      this.#assertAllowed(host)
      await resolveJudged(host, port, this.#reach)
    } catch (error) {
      if (!(error instanceof ForbiddenPlace)) return
      this.fault = explain(error, host)
      throw error
    }
  }

  onProxyFault({ host }: URL, what: string): void {
    this.fault ??= { kind: 'unreachable', message: `the outbound proxy ${host} of this server ${what}` }
  }

  /** Resolves and judges the address of a host. Throws when it may not be reached; `fault` then says why. */
  async resolve(host: string, port: number): Promise<string> {
    try {
      return await resolveJudged(host, port, this.#reach)
    } catch (error) {
      this.fault = explain(error, host)
      throw error
    }
  }

  /** Connects to a place if that is allowed. Throws if not; `fault` then says why. */
  async connect(host: string, port: number): Promise<Socket> {
    try {
      this.#assertAllowed(host)
      // git writes complete requests, none of which should wait for the acknowledgement of the one before.
      const socket = connectJudged(host, port, this.#reach).setNoDelay()
      // An error on an open connection also closes it.
      socket.on('error', () => {})
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) }).catch((error: unknown) => {
        socket.destroy()
        throw error
      })
      this.fault = null
      return socket
    } catch (error) {
      this.fault = explain(error, host)
      throw error
    }
  }

  #assertAllowed(host: string): void {
    if (this.#hosts.has(host)) return
    throw new ForbiddenPlace(
      `leads to another host, ${host}, which is not followed: use that address instead`,
    )
  }
}

const passes = new Map<string, Pass>()
let gate: Promise<Gate> | undefined

/** Opens a pass through the gate, which starts listening for the first one. */
export async function openPass(reach: Reach): Promise<Pass> {
  gate ??= listen()
  return new Pass(await gate, reach)
}

async function listen(): Promise<Gate> {
  const socks = createServer({ noDelay: true }, (socket) => void serve(socket).catch(() => socket.destroy()))
  const [port, forwardPort] = await Promise.all([socks, createForwardGate(passOf)].map(portOf))
  return { port: port!, forwardPort: forwardPort! }
}

async function portOf(server: Server): Promise<number> {
  server.unref().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function passOf(key: string): Pass | undefined {
  return [...passes].find(([known]) => sameSecret(known, key))?.[1]
}

async function serve(client: Socket): Promise<void> {
  client.on('error', () => {})
  client.setTimeout(GREETING_MS, () => client.destroy())
  const take = takingFrom(client)
  const pass = await admit(client, take)
  const [version, command, , kind] = await take(4)
  const host = await readHost(take, kind!)
  const port = (await take(2)).readUInt16BE()
  if (version !== VERSION || command !== CONNECT || host === null) {
    client.end(reply(REPLY.unsupported))
    return
  }
  client.setTimeout(0)
  const remote = await pass.connect(host, port).catch((error: unknown) => {
    client.end(reply(replyTo(error)))
    return null
  })
  if (remote === null) return
  client.write(reply(REPLY.granted))
  client.pipe(remote).pipe(client)
  client.once('close', () => remote.destroy())
  remote.once('close', () => client.destroySoon())
}

/** Reads the greeting and the key (RFC 1928 section 3, RFC 1929 section 2). */
async function admit(client: Socket, take: Take): Promise<Pass> {
  const [version, methods] = await take(2)
  const offered = await take(methods!)
  if (version !== VERSION || !offered.includes(BY_PASSWORD)) {
    client.end(Buffer.from([VERSION, NO_METHOD]))
    throw new Error('the client does not offer a password')
  }
  client.write(Buffer.from([VERSION, BY_PASSWORD]))
  const [, userLength] = await take(2)
  await take(userLength!)
  const [keyLength] = await take(1)
  const key = (await take(keyLength!)).toString('latin1')
  const pass = passOf(key)
  client.write(Buffer.from([1, pass ? 0 : 1]))
  if (!pass) throw new Error('the key is not known')
  return pass
}

async function readHost(take: Take, kind: number): Promise<string | null> {
  if (kind === NAME) {
    const [length] = await take(1)
    return (await take(length!)).toString('latin1').toLowerCase()
  }
  if (kind === IPV4) return (await take(4)).join('.')
  if (kind !== IPV6) return null
  const bytes = await take(16)
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}

type Take = (count: number) => Promise<Buffer>

/** Reads this many bytes; throws when the stream ends before. */
function takingFrom(socket: Socket): Take {
  const closed = new AbortController()
  socket.once('close', () => closed.abort())
  return async (count) => {
    if (count === 0) return Buffer.alloc(0)
    for (;;) {
      const bytes = socket.read(count) as Buffer | null
      if (bytes !== null && bytes.length === count) return bytes
      if (socket.readableEnded || closed.signal.aborted) throw new Error('the connection ended')
      await once(socket, 'readable', { signal: closed.signal })
    }
  }
}

function reply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0])
}

function replyTo(error: unknown): number {
  if (error instanceof ForbiddenPlace) return REPLY.forbidden
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? REPLY.refused : REPLY.unreachable
}

function explain(error: unknown, host: string): Pass['fault'] {
  if (error instanceof ForbiddenPlace) return { kind: 'refused', message: messageOf(error) }
  const isUnknown = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  )
  const message = isUnknown
    ? `the host ${host} cannot be found: check the address and the server's name resolution`
    : `the host ${host} cannot be reached or closed the connection: check the address and try again`
  return { kind: 'unreachable', message }
}
