import { onChange, type Change } from '../changes.ts'
import { messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { getService } from '../services/store.ts'
import { lineMatcher, type LineMatcher } from './filter.ts'
import { instanceDeploys } from './instances.ts'
import { instanceOf, labelLine, type Labelled } from './labels.ts'
import { followed, liveFilter } from './read.ts'
import { LineRing } from './ring.ts'
import type { NamedLog, SharedFilter } from './search-parts.ts'
import { deployLookup, type Selection } from './selection.ts'
import { serviceLog } from './service-logs.ts'

const log = logger('logs')

/** How far a follower of several services may fall behind: each has a ring of its own, unlike those of one service. */
const RING_BYTES = 16 * 1024 * 1024
/** The same for all of these followers together, who share it; some blocks are left to each. */
const ALL_BYTES = 64 * 1024 * 1024
const LEAST_BYTES = 256 * 1024
const EVERYTHING = { since: null, until: null, stream: null, instances: null, levels: null, search: null }

const gatherings = new Set<Gathering>()

/** A service that is followed. */
interface Joined {
  service: Labelled
  stop: () => void
}

/**
 * The new lines of several services, for one follower: labelled, and in the order in which they arrive. Follows services that
 * are created later too, if the selection is an environment. Must be left.
 */
export class Gathering {
  readonly #selection: Selection
  readonly #matcher: LineMatcher
  /** Matches an expression in a thread, after everything else has matched. */
  readonly #live: ReturnType<typeof liveFilter>
  readonly #ring = new LineRing(0, ringBytes)
  readonly #joined = new Map<string, Joined>()
  readonly #deployOf = deployLookup()
  readonly #gone = new AbortController()
  #stopListening = () => {}

  /** Throws `service_unavailable` when too many searches are running. */
  constructor(selection: Selection, filter: SharedFilter, signal: AbortSignal) {
    this.#selection = selection
    const { search } = filter
    const isText = search !== null && 'text' in search
    this.#matcher = lineMatcher({ ...filter, instances: null, search: isText ? search : null })
    this.#live = liveFilter({ ...EVERYTHING, search: isText ? null : search }, signal)
  }

  /** Begins to follow. Returns what is stored of the logs; all later lines are among `lines`. */
  async join(): Promise<NamedLog[]> {
    gatherings.add(this)
    this.#stopListening = onChange((change) => this.#heed(change))
    const logs: NamedLog[] = []
    for (const service of this.#selection.services()) {
      const joined = await this.#follow(service)
      const instances = this.#selection.instancesOf(service)
      if (joined && instances?.length !== 0)
        logs.push({ service, slices: joined, instances, deploys: instanceDeploys(service.id) })
    }
    return logs
  }

  leave(): void {
    gatherings.delete(this)
    this.#stopListening()
    for (const { stop } of this.#joined.values()) stop()
    this.#joined.clear()
  }

  /** Blocks of new lines, until nothing that was selected exists any more. */
  lines(signal: AbortSignal): AsyncGenerator<Buffer> {
    return followed(this.#gone.signal, this.#ring, 0, this.#live, signal)
  }

  /** Begins to follow a service. Returns its stored parts; null if it is followed already, or was left meanwhile. */
  async #follow(service: Labelled): Promise<NamedLog['slices'] | null> {
    if (this.#joined.has(service.id)) return null
    const joined: Joined = { service: { ...service }, stop: () => {} }
    this.#joined.set(service.id, joined)
    const { slices, stop } = await serviceLog(service.id).listen((lines) => this.#add(joined.service, lines))
    joined.stop = stop
    if (this.#joined.get(service.id) === joined) return slices
    stop()
    return null
  }

  #add(service: Labelled, stored: readonly string[]): void {
    const lines = this.#matcher(stored.join(''))
      .filter((line) => this.#selection.wants(instanceOf(line), this.#deployOf))
      .map((line) => `${labelLine(line, service, this.#deployOf)}\n`)
    if (lines.length > 0) this.#ring.push(lines)
  }

  #heed({ kind, id, action }: Change): void {
    if (kind === 'all' || (kind === 'service' && action === 'created')) {
      const added = this.#selection.services().filter((service) => !this.#joined.has(service.id))
      for (const service of added)
        void this.#follow(service).catch((error: unknown) =>
          log.warn('a service log cannot be followed', { service: service.id, error: messageOf(error) }),
        )
    } else if (kind !== 'service') return
    const joined = this.#joined.get(id)
    const name = joined && getService(id)?.name
    if (name !== undefined) joined!.service.name = name
    else if (joined) {
      joined.stop()
      this.#joined.delete(id)
    }
    if (this.#joined.size === 0 && this.#selection.isGone()) this.#gone.abort()
  }
}

function ringBytes(): number {
  return Math.min(RING_BYTES, Math.max(LEAST_BYTES, ALL_BYTES / gatherings.size))
}
