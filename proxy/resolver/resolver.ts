import type { NameZone } from '../protocol.ts'
import { GatewayListener } from './gateway-listener.ts'
import { Forwarder, type Transport } from './forwarder.ts'
import { HostResolvers } from './host-resolvers.ts'
import { RCODE, readQuery, writeAnswer, type Query } from './message.ts'
import { shuffled, Zones } from './zones.ts'

/** An address leaves rotation seconds before its program ends, so a client that caches it this long never notices. */
const TTL_SECONDS = 1

interface HostNameServers {
  /** The file that lists the host's name servers. */
  file?: string
  /** The port of those servers. */
  port?: number
}

/**
 * The name server of the private networks. Names of an environment lead to its instances in rotation. The address of the
 * client decides which environment that is, whichever gateway it asked. All other questions go to the host's own name
 * servers.
 */
export class Resolver {
  #zones = new Zones()
  #listeners = new Map<string, GatewayListener>()
  #hostResolvers: HostResolvers
  #forwarder: Forwarder
  #closed = false

  constructor({ file, port }: HostNameServers = {}) {
    this.#hostResolvers = new HostResolvers(file)
    this.#forwarder = new Forwarder(port)
  }

  /** Whether it answers for any zone. */
  get isInUse(): boolean {
    return this.#listeners.size > 0
  }

  /** Replaces all zones; resolves once each gateway was tried. Those that fail are retried. */
  async apply(zones: Record<string, NameZone>): Promise<void> {
    if (this.#closed) return
    this.#zones.apply(zones)
    const { gateways } = this.#zones
    for (const [gateway, listener] of this.#listeners) {
      if (gateways.has(gateway)) continue
      listener.close()
      this.#listeners.delete(gateway)
    }
    const added = [...gateways].filter((gateway) => !this.#listeners.has(gateway))
    await Promise.all(
      added.map((gateway) => {
        const listener = new GatewayListener(gateway, (message, source, transport) =>
          this.answer(message, source, transport),
        )
        this.#listeners.set(gateway, listener)
        return listener.open()
      }),
    )
  }

  /** Stops answering. */
  close(): void {
    this.#closed = true
    for (const listener of this.#listeners.values()) listener.close()
    this.#listeners.clear()
  }

  /** Returns the answer to a message from an address; null for silence. Never throws. */
  async answer(message: Buffer, source: string, transport: Transport): Promise<Buffer | null> {
    const reading = readQuery(message)
    if (!reading) return null
    if ('fault' in reading) return reading.fault
    const { query } = reading
    const names = this.#zones.namesFor(source)
    if (!names) return writeAnswer(query, [], 0, RCODE.refused)
    const known = query.labels.length === 1 ? names.get(query.labels[0]!.toLowerCase()) : undefined
    // A name without addresses, or asked for another type, still exists: an empty answer that must not be cached (RFC 2308
    // section 5) lets the next lookup find the service again, and makes clients ask no other server.
    if (known) return writeAnswer(query, query.wantsAddresses ? shuffled(known) : [], TTL_SECONDS)
    return this.#forward(message, query, source, transport)
  }

  async #forward(
    message: Buffer,
    query: Query,
    source: string,
    transport: Transport,
  ): Promise<Buffer | null> {
    const { gateways } = this.#zones
    // The host itself: its own name server may ask here, which would loop for ever.
    if (gateways.has(source)) return writeAnswer(query, [], 0, RCODE.refused)
    const servers = this.#hostResolvers.list(gateways)
    const answer = await this.#forwarder.ask(message, query, servers, transport, source)
    return answer ?? writeAnswer(query, [], 0, RCODE.failure)
  }
}
