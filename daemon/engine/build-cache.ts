import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasCacheMounts, madeBy, type BuiltStep, type CacheRecord } from './cache-records.ts'
import type { Connection } from './connection.ts'
import { readUsage } from './disk-usage.ts'
import type { Ledger } from './ledger.ts'

const log = logger('engine')

/** Enough to remove gigabytes of small files from a slow disk. */
const PRUNE_TIMEOUT_MS = 600_000
/** By then the built image has usually started, which reading the disk usage would delay by half a second. */
const CLAIM_AFTER_MS = 10_000
/** How many ids one request carries in its URL. */
const PRUNED_AT_ONCE = 100
/** The most steps that may wait to be claimed; more pile up only if the engine does not answer for hundreds of builds. */
const MAX_NOTES = 10_000
/** Records in use by builds or images become removable even when no build ends, so the cache is checked again after this. */
const LOOK_AGAIN_MS = 3_600_000

/**
 * The part of the engine's build cache that this server's builds created. The engine does not say which build a record
 * belongs to, so the records of each build are claimed after it: those that were created while one of its steps ran and that
 * match the step. If two records match, as when another client builds at the same moment, neither is claimed.
 */
export class BuildCache {
  readonly #connection: Connection
  readonly #ledger: Ledger
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<CacheRecord[]> | null = null
  /** The size that the cache was found to fit in since the last build. */
  #fit: { maxBytes: number; untilMs: number } | null = null

  constructor(connection: Connection, ledger: Ledger) {
    this.#connection = connection
    this.#ledger = ledger
  }

  /**
   * Notes a step that a build of this server begins or has executed, until the engine is asked which records the step left:
   * the build or the server may be interrupted in between. The note is sealed, since the names of steps contain the values
   * of build arguments.
   */
  note(step: BuiltStep): void {
    if (step.completedMs === null && !hasCacheMounts(step)) return
    this.#fit = null
    try {
      if (this.#ledger.countWaiting('build_cache') >= MAX_NOTES) return
      this.#ledger.record('build_cache', this.#ledger.seal(JSON.stringify(step)))
    } catch (error) {
      log.warn('a build step could not be noted: what it leaves in the build cache will never be removed', {
        error: messageOf(error),
      })
    }
  }

  /** Records, a little later, what the noted steps left. Anything that is never recorded is left alone. */
  claim(): void {
    if (this.#ledger.countWaiting('build_cache') === 0) return
    const claim = (): void => {
      this.#timer = undefined
      this.#look().catch((error: unknown) =>
        log.warn('the build cache could not be read yet', { error: messageOf(error) }),
      )
    }
    this.#timer ??= setTimeout(claim, CLAIM_AFTER_MS).unref()
  }

  /**
   * Shrinks the recorded part to about `maxBytes`, least recently used first. A cache that fits is checked again after a
   * build or an hour, since that takes the engine long. Returns the bytes that were removed. Throws `runtime_error`.
   */
  async shrink(maxBytes: number): Promise<number> {
    const surplus = await this.#surplus(maxBytes)
    let removed = 0
    for (let from = 0; from < surplus.length; from += PRUNED_AT_ONCE) {
      const ids = surplus.slice(from, from + PRUNED_AT_ONCE).map(({ ID }) => ID)
      // The filter `id` is a regular expression (moby, builder-next, toBuildkitPruneInfo).
      const query = { filters: JSON.stringify({ id: [`^(${ids.join('|')})$`] }) }
      const answer = (await this.#connection.dial('shrinking the build cache', {
        method: 'POST',
        path: '/build/prune?',
        query,
        timeoutMs: PRUNE_TIMEOUT_MS,
      })) as { SpaceReclaimed?: number }
      removed += answer.SpaceReclaimed ?? 0
    }
    return removed
  }

  /** How many bytes `shrink` would remove. Throws `runtime_error`. */
  async excess(maxBytes: number): Promise<number> {
    return bytesOf(await this.#surplus(maxBytes))
  }

  /** The records to remove so that the recorded part fits. */
  async #surplus(maxBytes: number): Promise<CacheRecord[]> {
    if (this.#ledger.list('build_cache').length === 0 || this.#isKnownToFit(maxBytes)) return []
    if (await this.#isAbsent()) return []
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
    return surplus
  }

  #isKnownToFit(maxBytes: number): boolean {
    return this.#fit !== null && this.#fit.maxBytes <= maxBytes && performance.now() < this.#fit.untilMs
  }

  /** Everything in the cache; records what builds left there since the last look. Concurrent callers share one look. */
  #look(): Promise<CacheRecord[]> {
    this.#looking ??= this.#lookAgain().finally(() => (this.#looking = null))
    return this.#looking
  }

  async #lookAgain(): Promise<CacheRecord[]> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const notes = this.#ledger.waiting('build_cache')
    const records = (await readUsage(this.#connection, ['build-cache'])).BuildCache ?? []
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
      log.warn(
        'the note of a build step cannot be read: what it left in the build cache will never be removed',
        {
          error: messageOf(error),
        },
      )
      return []
    }
  }

  /** Whether the engine has no build cache: Podman keeps the layers of builds as images. */
  async #isAbsent(): Promise<boolean> {
    return (await this.#connection.version()).name === 'podman'
  }
}

/** What to remove so that the rest fits: the least recently used first, but nothing before the records based on it. */
function chooseSurplus(own: CacheRecord[], all: readonly CacheRecord[], maxBytes: number): CacheRecord[] {
  let bytes = bytesOf(own)
  const children = new Map<string, number>()
  const parentsOf = ({ Parent, Parents }: CacheRecord) => Parents ?? (Parent ? [Parent] : [])
  for (const record of all)
    for (const parent of parentsOf(record)) children.set(parent, (children.get(parent) ?? 0) + 1)
  const usedAt = ({ LastUsedAt, CreatedAt }: CacheRecord) => Date.parse(LastUsedAt ?? CreatedAt)
  const left = own.toSorted((one, other) => usedAt(one) - usedAt(other))
  const surplus: CacheRecord[] = []
  while (bytes > maxBytes) {
    const at = left.findIndex(({ ID }) => (children.get(ID) ?? 0) === 0)
    if (at === -1) break
    const [record] = left.splice(at, 1) as [CacheRecord]
    for (const parent of parentsOf(record)) children.set(parent, children.get(parent)! - 1)
    surplus.push(record)
    bytes -= record.Size
  }
  return surplus
}

function bytesOf(records: readonly CacheRecord[]): number {
  return records.reduce((sum, { Size }) => sum + Size, 0)
}
