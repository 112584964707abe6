import type { Ledger, Tally } from '../counts.ts'
import type { Target, TargetState, TablePart } from '../protocol.ts'
import { fail } from '../table/checks.ts'
import { Instance } from './instance.ts'
import { EntriesDraft, Maps } from './maps.ts'
import { TargetRoute } from './target-route.ts'

/** What a target will be. */
export interface TargetPlan {
  route: TargetRoute
  state: TargetState
  counts: Tally
  instances: readonly Instance[]
  redirect: string | null
  compression: boolean
}

/**
 * The next table, or changes to the one in use, built part by part while requests follow the one before: nothing that
 * is in use changes until the draft takes its place.
 */
export class Draft {
  /** Whether it has changes alone. */
  readonly base: boolean
  readonly plans: TargetPlan[] = []
  /** Instances that leave their targets. */
  readonly leaving: Instance[] = []
  /** Instances that begin or cease to drain. */
  readonly turning = new Set<Instance>()
  /** Targets that are gone. */
  readonly gone: TargetRoute[] = []
  changesZones: boolean
  changesSites: boolean
  readonly #inUse: Maps
  readonly #ledger: Ledger
  readonly #maps: Maps
  /** The targets of the draft. */
  #routes = new Map<string, TargetRoute>()
  #entries

  constructor(base: boolean, inUse: Maps, ledger: Ledger) {
    this.base = base
    this.changesZones = !base
    this.changesSites = !base
    this.#inUse = inUse
    this.#ledger = ledger
    this.#maps = base ? inUse : new Maps()
    const { targets, hosts, zones, certificates, challenges, published } = this.#maps
    this.#entries = {
      targets: new EntriesDraft(targets, base),
      hosts: new EntriesDraft(hosts, base),
      zones: new EntriesDraft(zones, base),
      certificates: new EntriesDraft(certificates, base),
      challenges: new EntriesDraft(challenges, base),
      published: new EntriesDraft(published, base),
    }
  }

  /** Adds valid entries. Throws `ChannelError` `invalid_table` when a host has no target. */
  add({ targets, hosts, zones, certificates, acme_challenges }: TablePart): void {
    for (const [key, spec] of targets ?? []) {
      if (spec) this.#plan(key, spec)
      else this.#drop(key)
      this.#publish(key, spec)
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

  #plan(key: string, { id, state, upstreams, redirect, compression }: Target): void {
    const known = this.#inUse.targets.get(key)
    const counts = known?.counts.id === id ? known.counts : this.#ledger.of(id)
    // The object stays the same where the target does.
    const route = known ?? new TargetRoute(counts)
    const instances = upstreams.map((upstream) => {
      const instance = route.instances.find((instance) => instance.is(upstream)) ?? new Instance(upstream)
      if (instance.draining !== (upstream.draining === true)) this.turning.add(instance)
      return instance
    })
    for (const instance of route.instances) if (!instances.includes(instance)) this.leaving.push(instance)
    this.plans.push({
      route,
      state,
      counts,
      instances,
      redirect: redirect ?? null,
      compression: compression ?? false,
    })
    if (known && this.base) return
    this.#routes.set(key, route)
    this.#entries.targets.put(key, route)
  }

  #drop(key: string): void {
    const route = this.#inUse.targets.get(key)
    if (route) this.gone.push(route)
    this.#entries.targets.put(key, null)
  }

  #publish(key: string, spec: Target | null): void {
    const site = spec?.site !== undefined
    if (!site && !this.#inUse.published.has(key)) return
    this.changesSites = true
    this.#entries.published.put(key, site ? spec : null)
  }

  #routeOf(host: string, key: string): TargetRoute {
    const route = this.#routes.get(key) ?? (this.base ? this.#inUse.targets.get(key) : undefined)
    return route ?? fail(`hosts.${host}`, 'must name a target')
  }
}
