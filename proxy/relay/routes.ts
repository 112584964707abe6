import { BlockList, isIPv6 } from 'node:net'
import { emptyRow, type Row, type Sums } from '../counts.ts'
import {
  UNROUTED,
  type CertificateFiles,
  type RouteTable,
  type TargetState,
  type Upstream as UpstreamSpec,
} from '../protocol.ts'
import type { Site } from '../sites/site.ts'
import { Sites } from '../sites/sites.ts'
import { HostMap, hostName } from './host-map.ts'
import type { Upstream } from './upstream.ts'

export { hostName }

/** Refused connections in a row after which an instance leaves the choice, and for how long. */
const EJECT_AFTER_FAILURES = 2
const EJECT_MS = 10_000

/** One upstream address with its pool of idle connections; it outlives table changes that keep it. */
export class Instance {
  readonly name: string
  readonly host: string
  readonly port: number
  /** Requests and upgraded connections under way. */
  open = 0
  /** Gets no new request. */
  draining = false
  /** Stands in the table no more: connections to it end with their request. */
  removed = false
  /** Idle connections, the one used last at the end. */
  readonly idle: Upstream[] = []
  /** Called when `open` reaches 0. */
  whenIdle: (() => void)[] = []
  #failures = 0
  #ejectedUntil = 0

  constructor(spec: UpstreamSpec) {
    this.name = spec.instance
    this.host = spec.host
    this.port = spec.port
  }

  /** A connection was refused or timed out. `now` is monotonic milliseconds. */
  failed(now: number): void {
    if (++this.#failures >= EJECT_AFTER_FAILURES) this.#ejectedUntil = now + EJECT_MS
  }

  connected(): void {
    this.#failures = 0
    this.#ejectedUntil = 0
  }

  ejected(now: number): boolean {
    return this.#ejectedUntil > now
  }

  /** Ends a request begun with `open++`. */
  release(): void {
    if (--this.open > 0 || this.whenIdle.length === 0) return
    const waiting = this.whenIdle
    this.whenIdle = []
    for (const done of waiting) done()
  }

  closeIdle(): void {
    for (const upstream of this.idle.splice(0)) upstream.destroy()
  }
}

/** A target of the table in use. The object stays the same while the table names its id. */
export class TargetRoute {
  readonly id: string
  state: TargetState = 'serving'
  instances: readonly Instance[] = []
  /** Answers in place of instances. */
  site: Site | null = null
  readonly counts: Row
  #turn = 0

  constructor(id: string, counts: Row) {
    this.id = id
    this.counts = counts
  }

  /** The instance with the fewest open requests, equals in turn; `except` only when it is the last. */
  choose(now: number, except: Instance | null): Instance | null {
    let best: Instance | null = null
    let bestRank = Infinity
    const count = this.instances.length
    if (count > 1) this.#turn = (this.#turn + 1) % count
    for (let step = 0; step < count; step++) {
      const instance = this.instances[(this.#turn + step) % count]!
      if (instance.draining || instance === except) continue
      // An ejected instance is better than none: everything may have been refused for a moment.
      const rank = instance.open + (instance.ejected(now) ? 1e9 : 0)
      if (rank < bestRank) {
        best = instance
        bestRank = rank
      }
    }
    return best
  }
}

/** The table in the form that requests are routed by. */
export class Routes {
  /** Rises with each table, so that a connection knows that what it remembers is old. */
  epoch = 0
  upstreamTimeoutMs = 300_000
  maxConnectionsPerAddress = 2_000
  /** The age of `Strict-Transport-Security`; 0 where it is not sent. */
  hstsSeconds = 0
  #hosts = new HostMap<TargetRoute>()
  #certificates = new HostMap<CertificateFiles>()
  #challenges = new Map<string, string>()
  #targets = new Map<string, TargetRoute>()
  #instances = new Map<string, Instance>()
  #sites = new Sites()
  /** Instances out of the table that still have open requests. */
  #leaving = new Set<Instance>()
  #trusted = new BlockList()
  #anyTrusted = false
  #rows = new Map<string, Row>()
  readonly unrouted: Row = this.rowOf(UNROUTED)

  /** The target of a Host value: letter case, port and a trailing dot do not matter. */
  find(host: string): TargetRoute | undefined {
    return this.#hosts.find(hostName(host))
  }

  /** What to show to a client that asks for this server name (RFC 6066 section 3). */
  findCertificate(host: string): CertificateFiles | undefined {
    return this.#certificates.find(hostName(host))
  }

  /** Whether any HTTP-01 challenge is to be answered. */
  get challenged(): boolean {
    return this.#challenges.size > 0
  }

  /** The answer to an HTTP-01 challenge (RFC 8555 section 8.3). */
  challenge(token: string): string | undefined {
    return this.#challenges.get(token)
  }

  trusts(address: string): boolean {
    return this.#anyTrusted && this.#trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  /** Replaces the table with a valid one. Requests under way are left alone. */
  apply(table: RouteTable): void {
    const targets = new Map<string, TargetRoute>()
    const instances = new Map<string, Instance>()
    const sites = this.#sites.apply(table.targets)
    for (const [key, spec] of Object.entries(table.targets)) {
      const known = this.#targets.get(key)
      const target = known?.id === spec.id ? known : new TargetRoute(spec.id, this.rowOf(spec.id))
      target.state = spec.state
      target.instances = spec.upstreams.map((upstream) => this.#instance(upstream, instances))
      target.site = sites.get(key) ?? null
      targets.set(key, target)
    }
    this.#hosts = new HostMap()
    for (const [host, key] of Object.entries(table.hosts)) this.#hosts.set(host, targets.get(key)!)
    this.#certificates = new HostMap()
    for (const [host, files] of Object.entries(table.certificates)) this.#certificates.set(host, files)
    this.#challenges = new Map(Object.entries(table.acme_challenges))
    this.hstsSeconds = table.hsts_seconds
    this.#forget(targets, instances)
    this.#targets = targets
    this.#instances = instances
    this.#trust(table.trusted_proxies)
    this.upstreamTimeoutMs = table.upstream_timeout_ms
    this.maxConnectionsPerAddress = table.max_connections_per_ip
    this.epoch++
  }

  /** Everything that was counted, by target. */
  sums(): Sums {
    return Object.fromEntries([...this.#rows].filter(([, row]) => row.some((value) => value !== 0)))
  }

  /** The instances of one name, also those that left the table with requests open. */
  named(name: string): Instance[] {
    return [...this.#instances.values(), ...this.#leaving].filter((instance) => instance.name === name)
  }

  /** Every instance with idle connections to look after. */
  instances(): Iterable<Instance> {
    return this.#instances.values()
  }

  rowOf(id: string): Row {
    let row = this.#rows.get(id)
    if (!row) this.#rows.set(id, (row = emptyRow()))
    return row
  }

  #instance(spec: UpstreamSpec, into: Map<string, Instance>): Instance {
    const key = `${spec.instance} ${spec.host} ${spec.port}`
    let instance = into.get(key) ?? this.#instances.get(key)
    for (const leaving of this.#leaving) {
      if (`${leaving.name} ${leaving.host} ${leaving.port}` === key) instance ??= leaving
    }
    instance ??= new Instance(spec)
    this.#leaving.delete(instance)
    into.set(key, instance)
    instance.removed = false
    instance.draining = spec.draining === true
    if (instance.draining) instance.closeIdle()
    return instance
  }

  #forget(targets: Map<string, TargetRoute>, instances: Map<string, Instance>): void {
    for (const [key, target] of this.#targets) {
      if (targets.get(key) === target) continue
      target.instances = []
      target.site = null
    }
    for (const [key, instance] of this.#instances) {
      if (instances.has(key)) continue
      instance.removed = true
      instance.draining = true
      instance.closeIdle()
      if (instance.open > 0) {
        this.#leaving.add(instance)
        instance.whenIdle.push(() => this.#leaving.delete(instance))
      }
    }
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
