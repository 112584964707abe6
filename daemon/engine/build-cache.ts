import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { leavesAtOnce, madeBy, type BuiltStep, type CacheRecord } from './cache-records.ts'
import { minorOf, type Connection } from './connection.ts'
import type { Ledger } from './ledger.ts'

const log = logger('engine')

/** Removing gigabytes of small files from a slow disk. */
const PRUNE_TIMEOUT_MS = 600_000
/** From here on the build cache can be asked for without everything else on the disk (Engine API history, v1.42). */
const TYPE_MINOR = 42
/** Older engines look at their disk for one asker at a time and refuse all others. */
const BUSY = /disk usage operation is already running/
const BUSY_RETRY_MS = 500
/** By then what a build made has usually started, which a look at all of the disk would hold up by half a second. */
const CLAIM_AFTER_MS = 10_000
/** A look at a full disk takes this long at most; many may ask for one. */
const BUSY_MS = 120_000
/** Ids in one request, which carries them in its address. */
const PRUNED_AT_ONCE = 100
/** Steps that wait for the engine to be asked; it has not answered for hundreds of builds then. */
const MAX_NOTES = 10_000
/** Records that builds in progress use, or images, become removable without a build that ends. */
const LOOK_AGAIN_MS = 3_600_000

/**
 * The part of the engine's build cache that this server's builds made. The engine does not say whose a record is, so
 * each build's are recorded after it: those that were made while one of its steps ran, and are of that step's kind.
 * Where two records could be meant, as when somebody else builds in the same moment, neither is taken.
 */
export class BuildCache {
  readonly #connection: Connection
  readonly #ledger: Ledger
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<CacheRecord[]> | null = null
  /** In how much it was seen to fit since the last build. */
  #fit: { maxBytes: number; untilMs: number } | null = null

  constructor(connection: Connection, ledger: Ledger) {
    this.#connection = connection
    this.#ledger = ledger
  }

  /**
   * Writes down a step that a build of this server begins or has carried out, for when the engine is asked what the step
   * left: the build or the server may be broken off in between. It is sealed, as the names of steps hold the values of
   * build arguments.
   */
  note(step: BuiltStep): void {
    if (step.completedMs === null && !leavesAtOnce(step)) return
    this.#fit = null
    try {
      if (this.#ledger.countWaiting('build_cache') >= MAX_NOTES) return
      this.#ledger.record('build_cache', this.#ledger.seal(JSON.stringify(step)))
    } catch (error) {
      log.warn('what a build leaves in the build cache will not be known', { error: messageOf(error) })
    }
  }

  /** Has what the noted steps left recorded, a little later. What is never recorded is left alone. */
  claim(): void {
    if (this.#ledger.countWaiting('build_cache') === 0) return
    const claim = (): void => {
      this.#timer = undefined
      this.#look().catch((error: unknown) =>
        log.warn('what builds left in the build cache is not known yet', { error: messageOf(error) }),
      )
    }
    this.#timer ??= setTimeout(claim, CLAIM_AFTER_MS).unref()
  }

  /**
   * Shrinks what is recorded to about `maxBytes`, least recently used first. What was seen to fit is looked at again after
   * a build, or an hour: the look takes the engine long. Throws `runtime_error`.
   */
  async shrink(maxBytes: number): Promise<void> {
    if (this.#ledger.list('build_cache').length === 0 || this.#isKnownToFit(maxBytes)) return
    if (await this.#isAbsent()) return
    const records = await this.#look()
    const known = new Map(records.map((record) => [record.ID, record]))
    const recorded = this.#ledger.list('build_cache').filter(({ engine_id }) => engine_id !== null)
    for (const { name } of recorded) if (!known.has(name)) this.#ledger.forget('build_cache', name)
    const own = recorded
      .flatMap(({ name }) => known.get(name) ?? [])
      .filter(({ InUse, Shared }) => !InUse && !Shared)
    const surplus = chooseSurplus(own, records, maxBytes)
    if (surplus.length === 0 && this.#ledger.countWaiting('build_cache') === 0)
      this.#fit = { maxBytes, untilMs: performance.now() + LOOK_AGAIN_MS }
    for (let from = 0; from < surplus.length; from += PRUNED_AT_ONCE) {
      const ids = surplus.slice(from, from + PRUNED_AT_ONCE)
      // The filter `id` is an expression (moby, builder-next, toBuildkitPruneInfo).
      const query = { filters: JSON.stringify({ id: [`^(${ids.join('|')})$`] }) }
      await this.#connection.dial('shrinking the build cache', {
        method: 'POST',
        path: '/build/prune?',
        query,
        timeoutMs: PRUNE_TIMEOUT_MS,
      })
    }
  }

  #isKnownToFit(maxBytes: number): boolean {
    return this.#fit !== null && this.#fit.maxBytes <= maxBytes && performance.now() < this.#fit.untilMs
  }

  /** Everything that is in the cache; what builds have left there since the last look is recorded. Many share one look. */
  #look(): Promise<CacheRecord[]> {
    this.#looking ??= this.#lookAnew().finally(() => (this.#looking = null))
    return this.#looking
  }

  async #lookAnew(): Promise<CacheRecord[]> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const notes = this.#ledger.waiting('build_cache')
    const records = await this.#read()
    const made = notes.flatMap((note) => this.#madeBy(note, records))
    this.#ledger.atOnce(() => {
      for (const { ID } of made) this.#ledger.record('build_cache', ID, ID)
      for (const note of notes) this.#ledger.forget('build_cache', note)
    })
    return records
  }

  #madeBy(note: string, records: readonly CacheRecord[]): CacheRecord[] {
    try {
      return madeBy(JSON.parse(this.#ledger.open(note)) as BuiltStep, records)
    } catch (error) {
      log.warn('what a build left in the build cache is not known: its note cannot be read', {
        error: messageOf(error),
      })
      return []
    }
  }

  /** Podman keeps a build's layers as images. */
  async #isAbsent(): Promise<boolean> {
    return (await this.#connection.known()).name === 'podman'
  }

  async #read(): Promise<CacheRecord[]> {
    const { apiVersion } = await this.#connection.known()
    const path = minorOf(apiVersion) < TYPE_MINOR ? '/system/df' : '/system/df?type=build-cache'
    const until = performance.now() + BUSY_MS
    for (;;) {
      try {
        const answer = await this.#connection.dial('looking at the build cache', { method: 'GET', path })
        return (answer as { BuildCache?: CacheRecord[] | null }).BuildCache ?? []
      } catch (error) {
        if (!BUSY.test(messageOf(error)) || performance.now() > until) throw error
        await delay(BUSY_RETRY_MS)
      }
    }
  }
}

/** What to remove so that the rest fits: the longest unused first, but nothing before what was made from it. */
function chooseSurplus(own: CacheRecord[], all: readonly CacheRecord[], maxBytes: number): string[] {
  let bytes = own.reduce((sum, { Size }) => sum + Size, 0)
  const children = new Map<string, number>()
  const parentsOf = ({ Parent, Parents }: CacheRecord) => Parents ?? (Parent ? [Parent] : [])
  for (const record of all)
    for (const parent of parentsOf(record)) children.set(parent, (children.get(parent) ?? 0) + 1)
  const usedAt = ({ LastUsedAt, CreatedAt }: CacheRecord) => Date.parse(LastUsedAt ?? CreatedAt)
  const left = own.toSorted((one, other) => usedAt(one) - usedAt(other))
  const surplus: string[] = []
  while (bytes > maxBytes) {
    const at = left.findIndex(({ ID }) => (children.get(ID) ?? 0) === 0)
    if (at === -1) break
    const [record] = left.splice(at, 1) as [CacheRecord]
    for (const parent of parentsOf(record)) children.set(parent, children.get(parent)! - 1)
    surplus.push(record.ID)
    bytes -= record.Size
  }
  return surplus
}
