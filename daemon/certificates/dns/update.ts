import { connect } from 'node:net'
import type { DnsProvider } from '#server/options/dns-provider.ts'
import { framed, unframe } from '#proxy/resolver/message.ts'
import { createResolver } from '../../domains/resolve.ts'
import { CODES, readAnswer, updateRequest, type TxtUpdate } from './message.ts'
import type { TxtProvider } from './txt-provider.ts'

const ANSWER_MS = 10_000
/** In seconds; short, because the record exists only for a moment. */
const TTL = 60

/** A name server that accepts signed updates (RFC 2136, RFC 8945): BIND, Knot, PowerDNS. */
export class UpdateProvider implements TxtProvider {
  readonly #provider: Extract<DnsProvider, { kind: 'rfc2136' }>

  constructor(provider: Extract<DnsProvider, { kind: 'rfc2136' }>) {
    this.#provider = provider
  }

  present(name: string, value: string): Promise<void> {
    return this.#update(name, value, 'add')
  }

  cleanUp(name: string, value: string): Promise<void> {
    return this.#update(name, value, 'remove')
  }

  async #update(name: string, value: string, action: TxtUpdate['action']): Promise<void> {
    const { server, tsig } = this.#provider
    const request = updateRequest({ zone: await this.#zoneOf(name), name, value, action, ttl: TTL }, tsig)
    let code: number
    try {
      code = readAnswer(await this.#exchange(request.bytes), request, tsig)
    } catch (error) {
      throw new Error(`the update of ${name} at name server ${server} failed: ${(error as Error).message}`, {
        cause: error,
      })
    }
    if (code !== 0)
      throw new Error(`the name server ${server} refused the update of ${name}: ${CODES[code] ?? code}`)
  }

  /** Returns the zone that holds a name: its nearest parent for which the server itself has a SOA record. */
  async #zoneOf(name: string): Promise<string> {
    const resolver = createResolver([this.#provider.server])
    const labels = name.split('.')
    for (let at = 1; at < labels.length; at++) {
      const parent = labels.slice(at).join('.')
      const isZone = await resolver.resolveSoa(parent).then(
        () => true,
        () => false,
      )
      if (isZone) return parent
    }
    throw new Error(`the name server ${this.#provider.server} has no zone for ${name}`)
  }

  /** Sends one message over TCP and returns the answer, whose length is in two bytes. The options name the server. */
  #exchange(message: Buffer): Promise<Buffer> {
    const [, host, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(this.#provider.server)!
    const late = AbortSignal.timeout(ANSWER_MS)
    return new Promise((resolve, reject) => {
      const socket = connect({ host: host!, port: Number(port), signal: late })
      let received: Buffer = Buffer.alloc(0)
      socket.on('connect', () => socket.write(framed(message)))
      socket.on('data', (data: Buffer) => {
        received = Buffer.concat([received, data])
        const frame = unframe(received)
        if (!frame) return
        resolve(frame.message)
        socket.destroy()
      })
      socket.on('error', (error) => reject(late.aborted ? new Error('the server does not answer') : error))
      socket.on('close', () => reject(new Error('the server closed the connection')))
    })
  }
}
