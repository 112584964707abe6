import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import type { CacheRecord } from './cache-records.ts'
import { minorOf, type Connection } from './connection.ts'
import { shortName } from './image-names.ts'
import type { Ledger } from './ledger.ts'

/** From this API version on, a part of the disk usage can be asked for (Engine API history, v1.42). */
const TYPE_MINOR = 42
/** Older engines compute disk usage for one client at a time and refuse all others. */
const BUSY = /disk usage operation is already running/
const BUSY_RETRY_MS = 500
/** Computing the usage of a full disk takes at most this long; several clients may be waiting. */
const BUSY_MS = 120_000

type Part = 'image' | 'volume' | 'build-cache'

/** What `/system/df` answers, as far as it is used. */
interface RawUsage {
  /** The size of all layers together, those that images share counted once. */
  LayersSize?: number
  Images?: { Id: string; RepoTags?: string[] | null; Size: number; SharedSize: number }[] | null
  Volumes?: { Name: string; UsageData?: { Size: number } | null }[] | null
  BuildCache?: CacheRecord[] | null
}

/** The room that this server's objects take in the engine, in bytes. */
export interface EngineUse {
  images: ImageUse[]
  /** The layers that images share; those of other clients' images among them if these share with this server's. */
  sharedBytes: number
  /** By name. Those whose size the engine does not know are missing. */
  volumes: Map<string, number>
  buildCache: { bytes: number; records: number }
}

/** An image to which this server gave a name, or that it pulled. */
export interface ImageUse {
  id: string
  /** All its names; those of other clients too. */
  names: string[]
  /** Without the layers that it shares with other images. */
  bytes: number
}

/** Asks the engine what takes room, which may take it long. Throws `runtime_error`. */
export async function readUsage(connection: Connection, parts: readonly Part[]): Promise<RawUsage> {
  const { apiVersion } = await connection.version()
  const query = parts.map((part) => `type=${part}`).join('&')
  const path = minorOf(apiVersion) < TYPE_MINOR ? '/system/df' : `/system/df?${query}`
  const until = performance.now() + BUSY_MS
  for (;;) {
    try {
      return (await connection.dial('reading the disk usage', { method: 'GET', path })) as RawUsage
    } catch (error) {
      if (!BUSY.test(messageOf(error)) || performance.now() > until) throw error
      await delay(BUSY_RETRY_MS)
    }
  }
}

/** What of the engine's disk usage is this server's. Concurrent callers share one question. */
export class DiskUsage {
  readonly #connection: Connection
  readonly #ledger: Ledger
  #asking: Promise<EngineUse> | null = null

  constructor(connection: Connection, ledger: Ledger) {
    this.#connection = connection
    this.#ledger = ledger
  }

  /** Asks the engine. Throws `runtime_error`. */
  read(): Promise<EngineUse> {
    this.#asking ??= readUsage(this.#connection, ['image', 'volume', 'build-cache'])
      .then((raw) => this.#own(raw))
      .finally(() => (this.#asking = null))
    return this.#asking
  }

  #own({ LayersSize, Images, Volumes, BuildCache }: RawUsage): EngineUse {
    const all = (Images ?? []).map((image) => ({ ...image, own: image.Size - Math.max(0, image.SharedSize) }))
    const images = all.filter(({ Id, RepoTags }) => this.#isOwnImage(Id, RepoTags ?? []))
    const shared = images.reduce((sum, { SharedSize }) => sum + Math.max(0, SharedSize), 0)
    // Podman does not say it.
    const sharedByAll = LayersSize ? LayersSize - all.reduce((sum, { own }) => sum + own, 0) : shared
    const cache = this.#names('build_cache')
    const records = (BuildCache ?? []).filter(({ ID, Shared }) => cache.has(ID) && !Shared)
    const volumes = this.#names('volume')
    return {
      images: images.map(({ Id, RepoTags, own }) => ({
        id: Id,
        names: (RepoTags ?? []).map(shortName),
        bytes: own,
      })),
      sharedBytes: Math.max(0, Math.min(shared, sharedByAll)),
      volumes: new Map(
        (Volumes ?? []).flatMap(({ Name, UsageData }) =>
          volumes.has(Name) && UsageData && UsageData.Size >= 0 ? [[Name, UsageData.Size]] : [],
        ),
      ),
      buildCache: {
        bytes: records.reduce((sum, { Size }) => sum + Size, 0),
        records: records.length,
      },
    }
  }

  /** A pulled image is recorded with its id; the name may have been given to another one since. */
  #isOwnImage(id: string, names: readonly string[]): boolean {
    return names.map(shortName).some((name) => {
      const recorded = this.#ledger.find('image', name)
      return recorded !== undefined && (recorded.engine_id === null || recorded.engine_id === id)
    })
  }

  #names(kind: 'volume' | 'build_cache'): Set<string> {
    return new Set(this.#ledger.list(kind).map(({ name }) => name))
  }
}
