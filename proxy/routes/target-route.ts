import type { Ledger, Tally } from '../counts.ts'
import { Edge } from '../edge/edge.ts'
import { DASHBOARD_TARGET, type RedirectStatus, type Target, type TargetState } from '../protocol.ts'
import type { Site } from '../sites/site.ts'
import { Instance } from './instance.ts'

/** A target in the form that requests use, created for the first of them. */
export interface ParsedTarget {
  target: Target
  counts: Tally
  instances: readonly Instance[]
  /** Null if the service asks for nothing at its edge. */
  edge: Edge | null
}

/** Where all requests for a target are redirected to. */
export interface Redirect {
  url: string
  status: RedirectStatus
  /** Whether the path and the query of the request follow the URL. */
  keepsPath: boolean
}

/** What the targets of a table share. */
export interface Targets {
  readonly ledger: Ledger
  /** The targets that have had requests. */
  readonly requested: Set<TargetRoute>
  /** The new JSON, by key, of targets that changed with the current table and do not have it as their text yet. */
  readonly changes: ReadonlyMap<string, string>
}

/** A target of the table in use. The object stays the same while the table has its key. */
export class TargetRoute {
  /** Answers instead of instances. */
  site: Site | null = null
  readonly key: string
  /** The JSON from the table. It is parsed for the first request: most targets of a large table never get one. */
  #text: string
  #parsed: ParsedTarget | null = null
  #targets: Targets
  #turn = 0

  constructor(key: string, text: string, targets: Targets) {
    this.key = key
    this.#text = text
    this.#targets = targets
  }

  get state(): TargetState {
    return this.#parse().target.state
  }

  /** Where requests are redirected to, instead of instances. */
  get redirect(): Redirect | null {
    const { redirect, redirect_status, redirect_keeps_path } = this.#parse().target
    if (redirect === undefined) return null
    return { url: redirect, status: redirect_status ?? 308, keepsPath: redirect_keeps_path ?? true }
  }

  /** Whether answers of its instances are compressed for clients that accept that. */
  get compression(): boolean {
    return this.#parse().target.compression ?? false
  }

  get edge(): Edge | null {
    return this.#parse().edge
  }

  /** Whether each request is reported as a line of the service's log. */
  get logsAccess(): boolean {
    return this.#parse().target.edge?.access_log ?? false
  }

  /** Whether it is the control plane itself and not a user's service. */
  get isDashboard(): boolean {
    return this.#parse().target.id === DASHBOARD_TARGET
  }

  get counts(): Tally {
    return this.#parse().counts
  }

  get instances(): readonly Instance[] {
    return this.#parse().instances
  }

  /** Null before the first request. */
  get parsed(): ParsedTarget | null {
    return this.#parsed
  }

  /** Takes the state of the next table, if there have been requests. */
  update(parsed: ParsedTarget): void {
    this.#parsed = parsed
  }

  /** Takes the JSON of the next table. */
  setText(text: string): void {
    this.#text = text
  }

  /** Returns the instance with the fewest open requests, alternating between equals; never `except`. */
  choose(now: number, except: Instance | null): Instance | null {
    const { instances } = this
    let best: Instance | null = null
    let bestRank = Infinity
    const count = instances.length
    if (count > 1) this.#turn = (this.#turn + 1) % count
    for (let step = 0; step < count; step++) {
      const instance = instances[(this.#turn + step) % count]!
      if (instance.draining || instance === except) continue
      // An ejected instance is better than none: all of them may have refused for a moment.
      const rank = instance.open + (instance.ejected(now) ? 1e9 : 0)
      if (rank < bestRank) {
        best = instance
        bestRank = rank
      }
    }
    return best
  }

  /** Returns the instance that a client was led to before, if it is well and in rotation. */
  find(token: string, now: number): Instance | null {
    for (const instance of this.instances)
      if (instance.token === token) return instance.draining || instance.ejected(now) ? null : instance
    return null
  }

  #parse(): ParsedTarget {
    if (this.#parsed) return this.#parsed
    const { requested, changes, ledger } = this.#targets
    const target = JSON.parse(changes.get(this.key) ?? this.#text) as Target
    const instances = target.upstreams.map((upstream) => new Instance(upstream))
    requested.add(this)
    return (this.#parsed = { target, counts: ledger.of(target.id), instances, edge: edgeOf(target) })
  }
}

/** Returns what a service asks for at its edge, ready to use; null if it asks for nothing. */
export function edgeOf({ id, edge }: Target): Edge | null {
  return edge && Object.keys(edge).length > 0 ? new Edge(id, edge) : null
}
