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
  /** Increases with each table, so that a connection knows that what it remembers is outdated. */
  epoch = 0
  upstreamTimeoutMs = 300_000
  maxConnectionsPerAddress = 2_000
  /** `max-age` of `Strict-Transport-Security`; 0 omits the field. */
  hstsSeconds = 0
  /** Whether plain connections may speak HTTP/2. */
  h2c = false
  /** The key for answers to nonces; empty for none. */
  verificationKey = ''
  tlsChallenges: Readonly<TableSettings['tls_challenges']> = {}
  readonly ledger = new Ledger()
  readonly unrouted: Tally = this.ledger.of(UNROUTED)
  readonly requested = new Set<TargetRoute>()
  changes: ReadonlyMap<string, string> = new Map()
  #maps = new Maps()
  /** Instances that left the table but still have open requests. */
  #leaving = new Set<Instance>()
  #sites = new Sites()
  /** The keys of targets with a site. */
  #withSite: string[] = []
  #trusted = new BlockList()
  #anyTrusted = false

  /** Returns the target of a Host value: letter case, port and a trailing dot do not matter. */
  find(host: string): TargetRoute | undefined {
    return this.#maps.hosts.find(hostName(host))
  }

  /** Returns the certificate for a client that asks for this server name (RFC 6066 section 3). */
  findCertificate(host: string): CertificateFiles | undefined {
    return this.#maps.certificates.find(hostName(host))
  }

  /** Returns the answer to an HTTP-01 challenge (RFC 8555 section 8.3). */
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

  /** Returns the instances of one name, including those that left the table with requests open. */
  named(name: string): Instance[] {
    const named = [...this.#leaving].filter((instance) => instance.name === name)
    for (const instance of this.instances()) if (instance.name === name) named.push(instance)
    return named
  }

  /** Yields every instance that requests can have gone to. */
  *instances(): Generator<Instance> {
    for (const { instances } of this.requested) yield* instances
  }

  /** Begins another table, or changes to this one. */
  draft(base: boolean): Draft {
    return new Draft(base, this.#maps, this)
  }

  /**
   * Replaces the table in use by a complete draft, at once; requests under way are not affected. Resolves when everything
   * that left the table was cleaned up as well, which happens in slices.
   */
  async swap(draft: Draft, settings: TableSettings): Promise<void> {
    const before = this.#maps.targets
    // The next table may come before all targets have their new text.
    for (const [key, text] of this.changes) before.get(key)?.setText(text)
    this.#maps = draft.apply()
    this.changes = draft.changes
    for (const [route, parsed] of draft.parsed()) route.update(parsed)
    for (const route of draft.gone) this.#forget(route, draft)
    if (!draft.base) {
      for (const route of this.requested) if (!draft.changes.has(route.key)) this.#forget(route, draft)
    }
    for (const instance of draft.drainChanges) instance.draining = !instance.draining
    if (draft.changesSites) this.#publish(before)
    this.#trust(settings.trusted_proxies)
    this.hstsSeconds = settings.hsts_seconds
    this.h2c = settings.h2c
    this.verificationKey = settings.verification_key
    this.tlsChallenges = settings.tls_challenges
    this.upstreamTimeoutMs = settings.upstream_timeout_ms
    this.maxConnectionsPerAddress = settings.max_connections_per_ip
    this.epoch++
    // Nothing has to wait for this, see `Targets.changes`; requests come first.
    void setImmediate().then(() => inSlices(this.#setTexts(draft.changes)))
    await inSlices(this.#closeIdle(draft))
  }

  /** Marks the instances of a removed target as leaving. */
  #forget(route: TargetRoute, { leaving }: Draft): void {
    route.site = null
    if (!route.parsed) return
    leaving.push(...route.parsed.instances)
    route.update({ ...route.parsed, instances: [] })
    this.requested.delete(route)
  }

  /** Gives targets their new text, one at a time; until then they find it among the changes. */
  *#setTexts(changes: ReadonlyMap<string, string>): Generator<void> {
    for (const [key, text] of changes) {
      // The next table has already done this.
      if (this.changes !== changes) return
      this.#maps.targets.get(key)?.setText(text)
      yield
    }
    if (this.changes === changes) this.changes = new Map()
  }

  /** Closes idle connections of instances that get no more requests, one at a time. */
  *#closeIdle({ leaving, drainChanges }: Draft): Generator<void> {
    for (const instance of leaving) {
      instance.draining = true
      if (instance.open > 0) {
        this.#leaving.add(instance)
        instance.whenIdle(() => this.#leaving.delete(instance))
      }
      yield
      while (instance.closeOneIdle()) yield
    }
    for (const instance of drainChanges) while (instance.closeOneIdle()) yield
  }

  /** Opens the sites of the targets that have one, and closes the others. */
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
