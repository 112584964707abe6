import type { NameZone } from '../protocol.ts'
import { Door } from './door.ts'
import { Forwarder, type Transport } from './forwarder.ts'
import { HostResolvers } from './host-resolvers.ts'
import { RCODE, readQuery, writeAnswer, type Query } from './message.ts'
import { shuffled, Zones } from './zones.ts'

/** An address leaves rotation some seconds before its program ends; who keeps a name no longer than this never sees that. */
const TTL_SECONDS = 1

interface Places {
  /** The host's list of name servers. */
  file?: string
  /** Where those listen. */
  port?: number
}

/**
 * The name server of the private networks. Names of an environment lead to what is in rotation there; who asks, by
 * address, decides which environment that is, whichever gateway was asked. Everything else is asked of the host's own
 * name servers.
 */
export class Resolver {
  #zones = new Zones()
  #doors = new Map<string, Door>()
  #hostResolvers: HostResolvers
  #forwarder: Forwarder
  #closed = false

  constructor({ file, port }: Places = {}) {
    this.#hostResolvers = new HostResolvers(file)
    this.#forwarder = new Forwarder(port)
  }

  /** Whether anybody's names are answered here. */
  get isInUse(): boolean {
    return this.#doors.size > 0
  }

  /** Takes all zones at once; resolves when the gateways were tried once. Those that cannot be had are tried again. */
  async apply(zones: Record<string, NameZone>): Promise<void> {
    if (this.#closed) return
    this.#zones.apply(zones)
    const { gateways } = this.#zones
    for (const [gateway, door] of this.#doors) {
      if (gateways.has(gateway)) continue
      door.close()
      this.#doors.delete(gateway)
    }
    const added = [...gateways].filter((gateway) => !this.#doors.has(gateway))
    await Promise.all(
      added.map((gateway) => {
        const door = new Door(gateway, (message, source, transport) =>
          this.answer(message, source, transport),
        )
        this.#doors.set(gateway, door)
        return door.open()
      }),
    )
  }

  /** Answers no more. */
  close(): void {
    this.#closed = true
    for (const door of this.#doors.values()) door.close()
    this.#doors.clear()
  }

  /** The answer to what came from an address; null for silence. Never throws. */
  async answer(message: Buffer, source: string, transport: Transport): Promise<Buffer | null> {
    const reading = readQuery(message)
    if (!reading) return null
    if ('fault' in reading) return reading.fault
    const { query } = reading
    const names = this.#zones.namesFor(source)
    if (!names) return writeAnswer(query, [], 0, RCODE.refused)
    const known = query.labels.length === 1 ? names.get(query.labels[0]!.toLowerCase()) : undefined
    // Without an address, or of another type, a name is there all the same: a plain empty answer, which nobody may keep
    // (RFC 2308 section 5), lets the next lookup find the service back, and asks no other server about it.
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
    // The host itself: its own name server may ask here, which would go round for ever.
    if (gateways.has(source)) return writeAnswer(query, [], 0, RCODE.refused)
    const servers = this.#hostResolvers.list(gateways)
    const answer = await this.#forwarder.ask(message, query, servers, transport, source)
    return answer ?? writeAnswer(query, [], 0, RCODE.failure)
  }
}
