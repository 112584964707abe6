import type { TablePart, Target } from '../protocol.ts'
import { fail } from '../table/checks.ts'
import { Instance } from './instance.ts'
import { EntriesDraft, Maps } from './maps.ts'
import { type Made, TargetRoute, type Targets } from './target-route.ts'

/**
 * The next table, or changes to the one in use, built part by part while requests follow the one before: nothing that
 * is in use changes until the draft takes its place.
 */
export class Draft {
  /** Whether it has changes alone. */
  readonly base: boolean
  /** Instances that leave their targets. */
  readonly leaving: Instance[] = []
  /** Instances that begin or cease to drain. */
  readonly turning = new Set<Instance>()
  /** Targets that changes take away. */
  readonly gone = new Set<TargetRoute>()
  /** The JSON of the targets that are in use already, by key. */
  readonly changes = new Map<string, string>()
  changesZones: boolean
  changesSites: boolean
  readonly #inUse: Maps
  readonly #targets: Targets
  readonly #maps: Maps
  /** The targets of the draft. */
  #routes = new Map<string, TargetRoute>()
  /** What targets become for which requests had come when they were planned. */
  #made = new Map<TargetRoute, Made>()
  /** The targets for which requests had come at the beginning: the first of those in `Targets.asked`. */
  #askedBefore: number
  #entries

  constructor(base: boolean, inUse: Maps, targets: Targets) {
    this.base = base
    this.changesZones = !base
    this.changesSites = !base
    this.#inUse = inUse
    this.#targets = targets
    this.#askedBefore = targets.asked.size
    this.#maps = base ? inUse : new Maps()
    const { hosts, zones, certificates, challenges, published } = this.#maps
    this.#entries = {
      targets: new EntriesDraft(this.#maps.targets, base),
      hosts: new EntriesDraft(hosts, base),
      zones: new EntriesDraft(zones, base),
      certificates: new EntriesDraft(certificates, base),
      challenges: new EntriesDraft(challenges, base),
      published: new EntriesDraft(published, base),
    }
  }

  /** Adds valid entries. Throws `ChannelError` `invalid_table` when a host has no target. */
  add({ targets, hosts, zones, certificates, acme_challenges }: TablePart): void {
    // Not taken apart as they are iterated: there are many, and the first ones come before V8 has compiled this.
    for (const target of targets ?? []) {
      const key = target[0]
      const text = target[1]
      if (text === null) this.#drop(key)
      else this.#plan(key, text)
      this.#publish(key, text)
    }
    for (const [host, key] of hosts ?? []) {
      this.#entries.hosts.put(host, key === null ? null : this.#routeOf(host, key))
    }
    for (const [id, zone] of zones ?? []) this.#entries.zones.put(id, zone)
    this.changesZones ||= (zones ?? []).length > 0
    for (const [host, files] of certificates ?? []) this.#entries.certificates.put(host, files)
    for (const [token, answer] of acme_challenges ?? []) this.#entries.challenges.put(token, answer)
  }

  /** Makes the changes, or gives the maps of the whole table. */
  make(): Maps {
    for (const entries of Object.values(this.#entries)) entries.make()
    return this.#maps
  }

  /** What targets become for which requests have come. */
  *made(): Generator<[TargetRoute, Made]> {
    yield* this.#made
    let number = 0
    for (const route of this.#targets.asked) {
      if (number++ < this.#askedBefore || this.#made.has(route)) continue
      // The first request came after the target was planned.
      const text = this.changes.get(route.key)
      if (text !== undefined) yield [route, this.#next(route.made!, text)]
    }
  }

  #plan(key: string, text: string): void {
    const known = this.#inUse.targets.get(key)
    if (known) {
      this.changes.set(key, text)
      if (known.made) this.#made.set(known, this.#next(known.made, text))
      if (this.base) return
    }
    // The object stays the same where the target does.
    const route = known ?? new TargetRoute(key, text, this.#targets)
    this.#routes.set(key, route)
    this.#entries.targets.put(key, route)
  }

  /** An instance that stays keeps its connections. */
  #next(before: Made, text: string): Made {
    const target = JSON.parse(text) as Target
    const instances = target.upstreams.map((upstream) => {
      const instance = before.instances.find((instance) => instance.is(upstream)) ?? new Instance(upstream)
      if (instance.draining !== (upstream.draining === true)) this.turning.add(instance)
      return instance
    })
    for (const instance of before.instances) if (!instances.includes(instance)) this.leaving.push(instance)
    return { target, counts: this.#targets.ledger.of(target.id), instances }
  }

  #drop(key: string): void {
    const route = this.#inUse.targets.get(key)
    if (route) this.gone.add(route)
    this.changes.delete(key)
    this.#entries.targets.put(key, null)
  }

  #publish(key: string, text: string | null): void {
    // In JSON the quotes of a value have backslashes before them: most targets need not be read for this.
    const target = text?.includes('"site"') ? (JSON.parse(text) as Target) : null
    const published = target?.site ? target : null
    if (!published && !this.#inUse.published.has(key)) return
    this.changesSites = true
    this.#entries.published.put(key, published)
  }

  #routeOf(host: string, key: string): TargetRoute {
    const route = this.#routes.get(key) ?? (this.base ? this.#inUse.targets.get(key) : undefined)
    return route ?? fail(`hosts.${host}`, 'must name a target')
  }
}
