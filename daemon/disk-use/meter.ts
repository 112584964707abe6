import { setTimeout as delay } from 'node:timers/promises'
import { timestamp } from '#server/clock.ts'
import { fullerOf, type FileSystem } from '#server/disk-use/file-systems.ts'
import { DISK_KINDS, type DiskKind } from '#server/disk-use/kinds.ts'
import type { DiskUse } from '#server/disk-use/schema.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { EngineUse } from '../engine/index.ts'
import type { World } from '../world.ts'
import { tallyEngine } from './engine.ts'
import { fileSystems } from './file-systems.ts'
import { tallyFiles } from './files.ts'
import { mirrorNames } from './mirror-names.ts'
import { ownerName } from './names.ts'
import { Tally } from './tally.ts'

const log = logger('disk')

/** How many of the largest are listed. */
const MAX_LARGEST = 50
/** How long an answer waits for the engine, which may look at millions of files; the question goes on for the next one. */
const ENGINE_PATIENCE_MS = 15_000
/** An answer is reused for so many times the time that it took, so that measuring takes a tenth of a core at most... */
const REUSED_TIMES = 10
/** ...but never for longer than this. */
const MAX_REUSED_MS = 60_000

/** The kinds that are in the engine. */
const IN_ENGINE: ReadonlySet<DiskKind> = new Set([
  'images',
  'build_cache',
  'datastores',
  'disks',
  'kept_volumes',
])
const NAMES: Partial<Record<DiskKind, string>> = {
  build_cache: 'build cache',
  database: 'database',
  metrics: 'history of metrics',
}

/** Measures what takes room. Concurrent callers share one measurement. */
export class DiskMeter {
  readonly #world: World
  #last: { use: DiskUse; untilMs: number } | null = null
  #measuring: Promise<DiskUse> | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** What takes room now, or a moment ago. Throws `io_error` if the data directory cannot be read. */
  read(): Promise<DiskUse> {
    if (this.#last !== null && performance.now() < this.#last.untilMs) return Promise.resolve(this.#last.use)
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = null))
    return this.#measuring
  }

  /** Forgets the last measurement, because something was removed. */
  forget(): void {
    this.#last = null
  }

  async #measure(): Promise<DiskUse> {
    const began = performance.now()
    const measuredAt = Date.now()
    const tally = new Tally()
    const [rooms, engine] = await Promise.all([
      fileSystems(this.#world),
      this.#askEngine(),
      tallyFiles(tally),
    ])
    if (engine !== null) tallyEngine(tally, engine)
    const { total_bytes, free_bytes } = roomOf(fullerOf(rooms))
    const use: DiskUse = {
      filesystem: { total_bytes, free_bytes },
      filesystems: { data: roomOf(rooms.data), engine: rooms.engine && roomOf(rooms.engine) },
      kinds: tally
        .sums(DISK_KINDS)
        .map((sum) =>
          engine === null && IN_ENGINE.has(sum.kind) ? { kind: sum.kind, bytes: null, items: null } : sum,
        ),
      top: named(tally.largest(MAX_LARGEST)),
      measured_at: timestamp(measuredAt),
    }
    const tookMs = performance.now() - began
    const reusedMs = engine === null ? 0 : Math.min(tookMs * REUSED_TIMES, MAX_REUSED_MS)
    this.#last = { use, untilMs: performance.now() + reusedMs }
    return use
  }

  /** Null if it does not answer in time. */
  async #askEngine(): Promise<EngineUse | null> {
    const { engine, reachByAddress, engineFault } = this.#world
    if (reachByAddress === null || engineFault !== null) return null
    const late = new AbortController()
    const patience = delay(ENGINE_PATIENCE_MS, null, { signal: late.signal }).catch(() => null)
    const answer = engine.diskUse().catch((error: unknown) => {
      log.warn('the engine did not say what takes room', { error: messageOf(error) })
      return null
    })
    try {
      return await Promise.race([answer, patience])
    } finally {
      late.abort()
    }
  }
}

function roomOf({ totalBytes, freeBytes, floorBytes }: FileSystem): DiskUse['filesystems']['data'] {
  return { total_bytes: totalBytes, free_bytes: freeBytes, floor_bytes: floorBytes }
}

function named(items: { kind: DiskKind; id: string; bytes: number }[]): DiskUse['top'] {
  const mirrors = mirrorNames()
  const nameOf = (kind: DiskKind, id: string) =>
    NAMES[kind] ?? (kind === 'mirrors' ? (mirrors.get(id) ?? id) : ownerName(id))
  return items.map(({ kind, id, bytes }) => ({ kind, id, name: nameOf(kind, id), bytes }))
}
