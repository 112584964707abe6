import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { minorOf, type Connection } from './connection.ts'
import type { Ledger } from './ledger.ts'

const log = logger('engine')

/** A step that a build carried out, rather than took from the cache; moments are the engine's own. */
export interface BuiltStep {
  /** As BuildKit shows it, with the values of build arguments and of the image's environment. */
  name: string
  hasFailed: boolean
  startedMs: number
  completedMs: number
}

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
/** The engine's moments of a record have nanoseconds, a Date has not. */
const MOMENT_SLACK_MS = 1

/** How the description of what a command made ends: with the command, as it is written in the Dockerfile. */
const FROM_EXEC = / from exec (?:\/bin\/sh -c )?([^]*)$/
/** In a command; in the name of its step the value stands in its place (BuildKit, dockerfile2llb, processCmdEnv). */
const VARIABLE = /\$(?:\w+|\{[^}]*\})/
/** Steps that put files into an image. */
const FILE_STEP = /^\[[^\]]*\] (?:COPY|ADD|WORKDIR) /
/** Records that builds in progress use, or images, become removable without a build that ends. */
const LOOK_AGAIN_MS = 3_600_000

interface CacheRecord {
  ID: string
  /** Of engines up to API 1.41; later ones have a list. */
  Parent?: string
  Parents?: string[]
  Description: string
  InUse: boolean
  /** Kept by an image that is there, so that it takes no place of its own. */
  Shared: boolean
  Size: number
  CreatedAt: string
  LastUsedAt?: string | null
}

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
   * Writes down that a build of this server carried out a step, for when the engine is asked what the step left: the
   * server may be killed in between. It is sealed, as the names of steps hold the values of build arguments.
   */
  note(step: BuiltStep): void {
    this.#fit = null
    try {
      this.#ledger.record('build_cache', this.#ledger.seal(JSON.stringify(step)))
    } catch (error) {
      log.warn('what a build leaves in the build cache will not be known', { error: messageOf(error) })
    }
  }

  /** Has what the noted steps left recorded, a little later. What is never recorded is left alone. */
  claim(): void {
    if (this.#noted().length === 0) return
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
    if (surplus.length === 0 && this.#noted().length === 0)
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
    const noted = this.#noted()
    const records = await this.#read()
    for (const note of noted) {
      const step = JSON.parse(this.#ledger.open(note)) as BuiltStep
      for (const { ID } of madeBy(step, records)) this.#ledger.record('build_cache', ID, ID)
      this.#ledger.forget('build_cache', note)
    }
    return records
  }

  /** The steps that the engine has still to be asked about: until then they have no id. */
  #noted(): string[] {
    const waiting = this.#ledger.list('build_cache').filter(({ engine_id }) => engine_id === null)
    return waiting.map(({ name }) => name)
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

/** The records that a step made: one of each kind, or none where more than one could be meant. */
function madeBy(step: BuiltStep, records: readonly CacheRecord[]): CacheRecord[] {
  const made = records.filter(({ Description, CreatedAt }) => {
    const madeMs = Date.parse(CreatedAt)
    if (madeMs < step.startedMs - MOMENT_SLACK_MS || madeMs > step.completedMs + MOMENT_SLACK_MS) return false
    // Of a step that failed the engine keeps nothing but the folders that its mounts share.
    return isOfStep(Description, step.name) && (!step.hasFailed || Description.startsWith('cached mount '))
  })
  const byKind = Map.groupBy(made, ({ Description }) => Description.replace(FROM_EXEC, ''))
  return [...byKind.values()].flatMap((alike) => (alike.length === 1 ? alike : []))
}

/** Whether BuildKit describes what a step makes like this (its solver, ops/exec.go and ops/file.go; source/http). */
export function isOfStep(description: string, step: string): boolean {
  if (step.startsWith('[internal] load')) return /^(?:http url |local source for )/.test(description)
  const command = FROM_EXEC.exec(description)?.[1]
  if (command !== undefined) return isExpansion(command, commandOf(step))
  return description === step || (description === 'fileop target' && FILE_STEP.test(step))
}

/** Whether a text is what a command may read as once variables in it have their values. */
function isExpansion(command: string, text: string | undefined): boolean {
  if (text === undefined) return false
  const [first, ...pieces] = command.split(VARIABLE) as [string, ...string[]]
  const last = pieces.pop()
  if (last === undefined) return command === text
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** What a step runs, without its place (`[build 2/5]`) and its flags. */
function commandOf(step: string): string | undefined {
  let command = /^\[[^\]]*\] RUN ([^]*)$/.exec(step)?.[1]
  for (let flag; (flag = /^--\S+\s+/.exec(command ?? ''));) command = command!.slice(flag[0].length)
  return command
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
