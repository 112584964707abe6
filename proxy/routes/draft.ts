import type { TablePart, Target } from '../protocol.ts'
import { fail } from '../table/checks.ts'
import { Instance } from './instance.ts'
import { EntriesDraft, Maps } from './maps.ts'
import { type ParsedTarget, TargetRoute, type Targets, edgeOf } from './target-route.ts'

/**
 * The next table, or changes to the current one, built in parts while requests use the current one. Nothing in use changes
 * until the draft replaces it.
 */
export class Draft {
  /** Whether it has only changes. */
  readonly base: boolean
  /** Instances that leave their targets. */
  readonly leaving: Instance[] = []
  /** Instances that start or stop draining. */
  readonly drainChanges = new Set<Instance>()
  /** Targets that the changes remove. */
  readonly gone = new Set<TargetRoute>()
  /** The new JSON of targets that are already in use, by key. */
  readonly changes = new Map<string, string>()
  changesZones: boolean
  changesSites: boolean
  /** Whether a target that has had requests is, or comes, under maintenance. */
  maintains = false
  readonly #inUse: Maps
  readonly #targets: Targets
  readonly #maps: Maps
  /** The targets of the draft. */
  #routes = new Map<string, TargetRoute>()
  /** The new state of targets that had been parsed when they were added. */
  #parsed = new Map<TargetRoute, ParsedTarget>()
  /** How many targets had requests when the draft began: they come first in `Targets.requested`. */
  #requestedBefore: number
  #entries

  constructor(base: boolean, inUse: Maps, targets: Targets) {
    this.base = base
    this.changesZones = !base
    this.changesSites = !base
    this.#inUse = inUse
    this.#targets = targets
    this.#requestedBefore = targets.requested.size
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

  /** Adds valid entries. Throws `ChannelError` `invalid_table` if a host has no target. */
  add({ targets, hosts, zones, certificates, acme_challenges }: TablePart): void {
    // No destructuring in the loop: there are many entries, and the first ones run before V8 has compiled this.
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

  /** Applies the changes, or returns the maps of the whole table. */
  apply(): Maps {
    for (const entries of Object.values(this.#entries)) entries.apply()
    return this.#maps
  }

  /** Yields the new state of all targets that have had requests. */
  *parsed(): Generator<[TargetRoute, ParsedTarget]> {
    yield* this.#parsed
    let number = 0
    for (const route of this.#targets.requested) {
      if (number++ < this.#requestedBefore || this.#parsed.has(route)) continue
      // Its first request came after it was added to the draft.
      const text = this.changes.get(route.key)
      if (text !== undefined) yield [route, this.#next(route.parsed!, text)]
    }
  }

  #plan(key: string, text: string): void {
    const known = this.#inUse.targets.get(key)
    if (known) {
      this.changes.set(key, text)
      if (known.parsed) this.#parsed.set(known, this.#next(known.parsed, text))
      if (this.base) return
    }
    // The object stays the same as long as the target does.
    const route = known ?? new TargetRoute(key, text, this.#targets)
    this.#routes.set(key, route)
    this.#entries.targets.put(key, route)
  }

  /** Instances that stay keep their connections. */
  #next(before: ParsedTarget, text: string): ParsedTarget {
    const target = JSON.parse(text) as Target
    const instances = target.upstreams.map((upstream) => {
      const instance = before.instances.find((instance) => instance.is(upstream)) ?? new Instance(upstream)
      if (instance.draining !== (upstream.draining === true)) this.drainChanges.add(instance)
      return instance
    })
    for (const instance of before.instances) if (!instances.includes(instance)) this.leaving.push(instance)
    this.maintains ||= target.edge?.maintenance !== undefined
    return { target, counts: this.#targets.ledger.of(target.id), instances, edge: edgeOf(target) }
  }

  #drop(key: string): void {
    const route = this.#inUse.targets.get(key)
    if (route) this.gone.add(route)
    this.changes.delete(key)
    this.#entries.targets.put(key, null)
  }

  #publish(key: string, text: string | null): void {
    // Quotes inside a JSON value are escaped, so this finds the key: most targets need not be parsed.
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
