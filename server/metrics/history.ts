import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { LATENCY_BUCKETS_SECONDS } from '#proxy/latency-buckets.ts'
import { PRIVATE_FILE_MODE } from '../files.ts'
import type { HostReading, Reading, TargetReading } from './reading.ts'
import type { StatusCounts, Subject } from './sample.ts'
import {
  HOUR_SECONDS,
  LONGEST_SHOWN_SECONDS,
  MINUTE_SECONDS,
  STEP_SECONDS,
  stepStart,
  windowOf,
  type Window,
} from './steps.ts'
import { RANGES } from './schema.ts'
import { averaged, averages, known, SummedTable, type Averaged } from './summed-table.ts'
import { isService } from './targets.ts'
import { POINT_SECONDS, RecentTraffic, type Traffic } from './traffic.ts'

const HOST_VALUES = [
  'cpu_percent',
  'memory_used_bytes',
  'memory_total_bytes',
  'disk_read_bytes_per_sec',
  'disk_write_bytes_per_sec',
  'network_rx_bytes_per_sec',
  'network_tx_bytes_per_sec',
] as const satisfies (keyof HostReading)[]
const CONTAINER_VALUES = ['cpu_percent', 'memory_bytes'] as const
const STATUSES = ['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx'] as const
const BUCKETS = [...LATENCY_BUCKETS_SECONDS, Infinity].map((_, index) => `bucket_${index}` as const)
const REQUEST_VALUES = ['counted_seconds', ...STATUSES, ...BUCKETS] as const
type RequestSums = Record<(typeof REQUEST_VALUES)[number], number>

/** The only series in the table of the host. */
const HOST = 'host'
/** The series of all services' requests together, in the table that has one for each target. */
const SERVICES = 'services'
/** Steps in the future were written while the clock was wrong, or it is wrong now. Those less than a day ahead are kept. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1_000
/** The version of the tables. A file with another version is not read. */
const VERSION = 2
/** The previous version, which can be read: it had no hourly steps. */
const VERSION_WITHOUT_HOURS = 1

/** Why the file of a history cannot be used: it is damaged, or has another version. */
export class UnusableHistory extends Error {
  override readonly name = 'UnusableHistory'
}

/** A step of a container, or the sum of all its steps. */
export type ContainerSteps = Record<(typeof CONTAINER_VALUES)[number], number | null>
/** The requests of one step, or of several together. */
export interface RequestSteps {
  seconds: number
  statuses: StatusCounts
  buckets: number[]
}
export type At<T> = T & { at: number }

/**
 * The readings of the last day, averaged into steps and kept in a database file of their own. Added readings are in the file
 * only after `save`, but queries see them immediately.
 */
export class History {
  readonly #database: DatabaseSync
  readonly #host: SummedTable<Averaged<(typeof HOST_VALUES)[number]>>
  readonly #containers: SummedTable<Averaged<(typeof CONTAINER_VALUES)[number]>>
  readonly #requests: SummedTable<(typeof REQUEST_VALUES)[number]>
  /** The subjects that were written since the last save, by series. */
  readonly #subjects = new Map<string, string>()
  #recent: RecentTraffic | null = null

  /** Throws `UnusableHistory`, or SQLite's error when the file cannot be read or written. */
  constructor(path: string) {
    const database = new DatabaseSync(path)
    try {
      if (path !== ':memory:') chmodSync(path, PRIVATE_FILE_MODE)
      const version = versionOf(database)
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      this.#host = new SummedTable(database, 'host_steps', averaged(HOST_VALUES))
      this.#containers = new SummedTable(database, 'container_steps', averaged(CONTAINER_VALUES))
      this.#requests = new SummedTable(database, 'request_steps', REQUEST_VALUES)
      database.exec(
        `CREATE TABLE IF NOT EXISTS subjects (series TEXT PRIMARY KEY, subject TEXT NOT NULL) STRICT, WITHOUT ROWID;
         PRAGMA user_version = ${VERSION}`,
      )
      if (version === VERSION_WITHOUT_HOURS)
        for (const table of [this.#host, this.#containers, this.#requests])
          table.sumUp(LONGEST_SHOWN_SECONDS, HOUR_SECONDS)
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
  }

  /** Adds a reading that was taken at `at`. */
  add(at: number, reading: Reading): void {
    if (!this.#database.isTransaction) this.#database.exec('BEGIN')
    for (const { container, ...rest } of reading.containers ?? []) this.#name(container, rest)
    for (const { target, name } of reading.requests?.targets ?? [])
      if (name !== null) this.#name(target, { id: target, name, kind: 'service' })
    for (const seconds of STEP_SECONDS) this.#addTo(seconds, stepStart(seconds, at), reading)
    if (reading.requests) this.#recent?.add(at, reading.requests.targets)
  }

  /** Writes what was added to the file. */
  save(): void {
    if (this.#database.isTransaction) this.#database.exec('COMMIT')
    this.#subjects.clear()
  }

  /** Deletes what no range shows any more. */
  forget(now: number): void {
    const windows = RANGES.map((range) => windowOf(range, now))
    const oldest = Math.min(...windows.map(({ first }) => first))
    for (const { stepSeconds, first } of [...windows, { stepSeconds: HOUR_SECONDS, first: oldest }])
      for (const table of [this.#host, this.#containers, this.#requests])
        table.keep(stepSeconds, first, now + MAX_AHEAD_MS)
    this.#database
      .prepare(
        `DELETE FROM subjects WHERE NOT EXISTS
         (SELECT 1 FROM container_steps AS step WHERE seconds = ?1 AND step.series = subjects.series)
         AND NOT EXISTS (SELECT 1 FROM request_steps AS step WHERE seconds = ?1 AND step.series = subjects.series)`,
      )
      .run(LONGEST_SHOWN_SECONDS)
    this.#subjects.clear()
  }

  /** Closes the file. What was not saved is lost. */
  close(): void {
    this.#database.close()
  }

  hostSteps({ stepSeconds, first, last }: Window): At<HostReading>[] {
    return this.#host
      .steps(stepSeconds, HOST, first, last)
      .map((row) => ({ at: row.at, ...rounded(averages(row, HOST_VALUES)) }))
  }

  /** Each container with the CPU time that it used: the sum of its readings, in percent of a core. */
  containerTotals(window: Window): { container: string; cpu: number }[] {
    return this.#containers.totals(window).map((row) => ({ container: row.series, cpu: row.cpu_percent }))
  }

  containerSteps(container: string, { stepSeconds, first, last }: Window): At<ContainerSteps>[] {
    return this.#containers
      .steps(stepSeconds, container, first, last)
      .map((row) => ({ at: row.at, ...rounded(averages(row, CONTAINER_VALUES)) }))
  }

  /** The requests of a target, or of all services together. */
  requestSteps(target: string | null, { stepSeconds, first, last }: Window): At<RequestSteps>[] {
    return this.#requests
      .steps(stepSeconds, target ?? SERVICES, first, last)
      .map((row) => ({ at: row.at, ...requestsOf(row) }))
  }

  /** The requests of each target in the last hour. Read from the file once, and then counted on as readings are added. */
  traffic(now: number): Traffic {
    this.#recent ??= this.#readRecent(now)
    return this.#recent.upTo(now)
  }

  /** The requests of each target, and the time over which they were counted. */
  requestTotals(window: Window): { seconds: number; targets: (RequestSteps & { target: string })[] } {
    const rows = this.#requests.totals(window)
    return {
      seconds: rows.find(({ series }) => series === SERVICES)?.counted_seconds ?? 0,
      targets: rows
        .filter(({ series }) => series !== SERVICES)
        .map((row) => ({ target: row.series, ...requestsOf(row) })),
    }
  }

  /** What a container or a target belonged to when it was last seen. */
  subjectOf(series: string): Subject | undefined {
    const row = this.#database.prepare('SELECT subject FROM subjects WHERE series = ?').get(series)
    return row && (JSON.parse(row.subject as string) as Subject)
  }

  /** The containers that belonged to a service or datastore. */
  containersOf(id: string): string[] {
    const rows = this.#database
      .prepare("SELECT series FROM subjects WHERE subject ->> '$.id' = ? AND series <> ? ORDER BY series")
      .all(id, id)
    return rows.map(({ series }) => series as string)
  }

  #readRecent(now: number): RecentTraffic {
    const recent = new RecentTraffic()
    const steps = this.#requests.sumsSince(MINUTE_SECONDS, RecentTraffic.begin(now), POINT_SECONDS, STATUSES)
    for (const row of steps) recent.add(row.at, [{ target: row.series, statuses: statusesOf(row) }])
    return recent
  }

  #addTo(seconds: number, at: number, { host, containers, requests }: Reading): void {
    this.#host.add(seconds, HOST, at, known(host, HOST_VALUES))
    for (const { container, cpuPercent, memoryBytes } of containers ?? []) {
      const values = { cpu_percent: cpuPercent, memory_bytes: memoryBytes }
      this.#containers.add(seconds, container, at, known(values, CONTAINER_VALUES))
    }
    if (!requests) return
    const { targets } = requests
    for (const target of targets)
      this.#requests.add(seconds, target.target, at, sumsOf(requests.seconds, [target]))
    const services = targets.filter(({ target }) => isService(target))
    this.#requests.add(seconds, SERVICES, at, sumsOf(requests.seconds, services))
  }

  #name(series: string, { id, name, kind }: Subject): void {
    const subject = JSON.stringify({ id, name, kind })
    if (this.#subjects.get(series) === subject) return
    this.#database
      .prepare('INSERT INTO subjects VALUES (?1, ?2) ON CONFLICT DO UPDATE SET subject = ?2')
      .run(series, subject)
    this.#subjects.set(series, subject)
  }
}

function sumsOf(seconds: number, targets: readonly TargetReading[]): RequestSums {
  const sum = (value: (target: TargetReading) => number) =>
    targets.reduce((total, target) => total + value(target), 0)
  const entries = [
    ...STATUSES.map((name, index) => [name, sum(({ statuses }) => statuses[index]!)]),
    ...BUCKETS.map((name, index) => [name, sum(({ buckets }) => buckets[index] ?? 0)]),
  ]
  return {
    counted_seconds: seconds,
    ...(Object.fromEntries(entries) as Omit<RequestSums, 'counted_seconds'>),
  }
}

function requestsOf(row: RequestSums): RequestSteps {
  return {
    seconds: row.counted_seconds,
    statuses: statusesOf(row),
    buckets: BUCKETS.map((name) => row[name]!),
  }
}

function statusesOf(row: Pick<RequestSums, (typeof STATUSES)[number]>): StatusCounts {
  return STATUSES.map((name) => row[name]) as StatusCounts
}

/** Rounds shares of a CPU to hundredths, and everything else to whole numbers. */
function rounded<C extends string>(values: Record<C, number | null>): Record<C, number | null> {
  const entries = Object.entries<number | null>(values).map(([name, value]) => {
    const unit = name === 'cpu_percent' ? 100 : 1
    return [name, value === null ? null : Math.round(value * unit) / unit]
  })
  return Object.fromEntries(entries) as Record<C, number | null>
}

/** SQLite's codes for a file that is damaged, or not a database at all (sqlite.org/rescode.html). */
const UNUSABLE_CODES = [11, 26]

/** The version of the tables; 0 for a new file. Throws `UnusableHistory`. */
function versionOf(database: DatabaseSync): number {
  try {
    const { quick_check } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
    if (quick_check !== 'ok') throw new UnusableHistory(`it is damaged: ${quick_check}`)
  } catch (error) {
    if (UNUSABLE_CODES.includes((error as { errcode?: number }).errcode ?? 0))
      throw new UnusableHistory((error as Error).message, { cause: error })
    throw error
  }
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (![0, VERSION_WITHOUT_HOURS, VERSION].includes(user_version))
    throw new UnusableHistory('another version of the server wrote it')
  return user_version
}
