import { BlockList, isIPv6 } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Ledger, type Tally } from '../counts.ts'
import { UNROUTED, type CertificateFiles, type NameZone, type TableSettings } from '../protocol.ts'
import { Sites } from '../sites/sites.ts'
import { Draft } from './draft.ts'
import { hostName } from './host-map.ts'
import type { Instance } from './instance.ts'
import { Maps } from './maps.ts'
import { inSlices } from './slices.ts'
import type { TargetRoute, Targets } from './target-route.ts'

/** The table in the form that requests are routed by. */
export class Routes implements Targets {
  /** Rises with each table, so that a connection knows that what it remembers is old. */
  epoch = 0
  upstreamTimeoutMs = 300_000
  maxConnectionsPerAddress = 2_000
  /** The age of `Strict-Transport-Security`; 0 where it is not sent. */
  hstsSeconds = 0
  /** Plain connections may speak HTTP/2. */
  h2c = false
  /** With which nonces are answered; empty for none. */
  verificationKey = ''
  tlsChallenges: Readonly<TableSettings['tls_challenges']> = {}
  readonly ledger = new Ledger()
  readonly unrouted: Tally = this.ledger.of(UNROUTED)
  readonly asked = new Set<TargetRoute>()
  changes: ReadonlyMap<string, string> = new Map()
  #maps = new Maps()
  /** Instances out of the table that still have open requests. */
  #leaving = new Set<Instance>()
  #sites = new Sites()
  /** The keys of targets with a site. */
  #withSite: string[] = []
  #trusted = new BlockList()
  #anyTrusted = false

  /** The target of a Host value: letter case, port and a trailing dot do not matter. */
  find(host: string): TargetRoute | undefined {
    return this.#maps.hosts.find(hostName(host))
  }

  /** What to show to a client that asks for this server name (RFC 6066 section 3). */
  findCertificate(host: string): CertificateFiles | undefined {
    return this.#maps.certificates.find(hostName(host))
  }

  /** Whether any HTTP-01 challenge is to be answered. */
  get challenged(): boolean {
    return this.#maps.challenges.size > 0
  }

  /** The answer to an HTTP-01 challenge (RFC 8555 section 8.3). */
  challenge(token: string): string | undefined {
    return this.#maps.challenges.get(token)
  }

  /** The names of private networks, by environment. */
  get zones(): ReadonlyMap<string, NameZone> {
    return this.#maps.zones
  }

  trusts(address: string): boolean {
    return this.#anyTrusted && this.#trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  /** The instances of one name, also those that left the table with requests open. */
  named(name: string): Instance[] {
    const named = [...this.#leaving].filter((instance) => instance.name === name)
    for (const instance of this.instances()) if (instance.name === name) named.push(instance)
    return named
  }

  /** Every instance of the table that a request can have gone to. */
  *instances(): Generator<Instance> {
    for (const { instances } of this.asked) yield* instances
  }

  /** Begins another table, or changes to this one. */
  draft(base: boolean): Draft {
    return new Draft(base, this.#maps, this)
  }

  /**
   * Has a complete draft take the place of the table in use, at once; requests under way are left alone. Resolves when
   * what left the table is taken care of as well, which goes in slices.
   */
  async swap(draft: Draft, settings: TableSettings): Promise<void> {
    const before = this.#maps.targets
    // Another table may have come before all were told.
    for (const [key, text] of this.changes) before.get(key)?.tell(text)
    this.#maps = draft.make()
    this.changes = draft.changes
    for (const [route, made] of draft.made()) route.become(made)
    for (const route of draft.gone) this.#forget(route, draft)
    if (!draft.base) {
      for (const route of this.asked) if (!draft.changes.has(route.key)) this.#forget(route, draft)
    }
    for (const instance of draft.turning) instance.draining = !instance.draining
    if (draft.changesSites) this.#publish(before)
    this.#trust(settings.trusted_proxies)
    this.hstsSeconds = settings.hsts_seconds
    this.h2c = settings.h2c
    this.verificationKey = settings.verification_key
    this.tlsChallenges = settings.tls_challenges
    this.upstreamTimeoutMs = settings.upstream_timeout_ms
    this.maxConnectionsPerAddress = settings.max_connections_per_ip
    this.epoch++
    // Nobody has to wait for this, see `Targets.changes`; requests come first.
    void setImmediate().then(() => inSlices(this.#tell(draft.changes)))
    await inSlices(this.#letLeave(draft))
  }

  /** Takes the instances of a target that is gone. */
  #forget(route: TargetRoute, { leaving }: Draft): void {
    route.site = null
    if (!route.made) return
    leaving.push(...route.made.instances)
    route.become({ ...route.made, instances: [] })
    this.asked.delete(route)
  }

  /** Tells targets what they are, one at a time: till then they find it among the changes. */
  *#tell(changes: ReadonlyMap<string, string>): Generator<void> {
    for (const [key, text] of changes) {
      // The next table has told them.
      if (this.changes !== changes) return
      this.#maps.targets.get(key)?.tell(text)
      yield
    }
    if (this.changes === changes) this.changes = new Map()
  }

  /** Closes what idles of instances that get no more requests, one at a time. */
  *#letLeave({ leaving, turning }: Draft): Generator<void> {
    for (const instance of leaving) {
      instance.draining = true
      if (instance.open > 0) {
        this.#leaving.add(instance)
        instance.whenIdle(() => this.#leaving.delete(instance))
      }
      yield
      while (instance.closeOneIdle()) yield
    }
    for (const instance of turning) while (instance.closeOneIdle()) yield
  }

  /** Opens the sites of the targets that have one, and closes those of others. */
  #publish(before: ReadonlyMap<string, TargetRoute>): void {
    const { targets, published } = this.#maps
    for (const key of this.#withSite) {
      const route = before.get(key)
      if (route) route.site = null
    }
    const sites = this.#sites.apply(Object.fromEntries(published))
    for (const [key, site] of sites) targets.get(key)!.site = site
    this.#withSite = [...sites.keys()]
  }

  #trust(networks: readonly string[]): void {
    this.#trusted = new BlockList()
    this.#anyTrusted = networks.length > 0
    for (const network of networks) {
      const [address, prefix] = network.split('/') as [string, string | undefined]
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (prefix === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(prefix), family)
    }
  }
}
