import { z } from 'zod'
import { LATENCY_COUNTS } from '#server/metrics/latency.ts'
import {
  UNROUTED,
  type AccessLine,
  type AccessLines,
  type Counts,
  type Hello,
  type TargetCounts,
} from '#proxy/protocol.ts'

/** The ids of the targets that an entry was given: it has nothing to say of others. */
type Targets = ReadonlySet<string>

/** More than a target ever counts, and little enough that sums of many stay exact. */
const MAX_COUNT = 1e12
/** Of texts that a data plane makes, and of those that its clients choose, escaped. */
const MAX_NAME_CHARACTERS = 128
const MAX_TEXT_CHARACTERS = 8_448
/** As many as 64 workers answer at once. */
const MAX_LINES = 65_536
/** Lines wait in an entry while the server is down. */
const MAX_AGE_MS = 7 * 86_400_000
const MIN_STATUS = 100
const MAX_STATUS = 999
const MAX_LISTENERS = 16
const MAX_VERSION_CHARACTERS = 64

const Name = z.string().max(MAX_NAME_CHARACTERS)
const Greeting = z.object({
  protocol: z.int(),
  version: z.string().max(MAX_VERSION_CHARACTERS),
  server_id: Name,
  pid: z.int(),
  listeners: z.array(z.object({ address: Name, host: Name, port: z.int() })).max(MAX_LISTENERS),
  table_version: z.int().nullable(),
})

/** The greeting of an entry. Throws `Error` if it is not one. */
export function greetingOf(said: unknown): Hello {
  const { data } = Greeting.safeParse(said)
  if (!data) throw new Error('its greeting is not one of a data plane')
  return data
}

/** What an entry says that it has counted, without what is none of its targets. Throws `Error` if these are no counts. */
export function countsOf(said: unknown, known: Targets): Counts {
  const { incarnation, started_at: startedAt, targets, ...open } = objectOf(said)
  if (!isName(incarnation) || typeof startedAt !== 'string' || Number.isNaN(Date.parse(startedAt)))
    throw wrong('counts')
  const kept: Counts['targets'] = {}
  const all = objectOf(targets)
  for (const id of Object.keys(all))
    if (id === UNROUTED || known.has(id)) kept[id] = targetCountsOf(objectOf(all[id]))
  return {
    incarnation,
    started_at: startedAt,
    targets: kept,
    open_connections: countOf(open.open_connections),
    open_requests: countOf(open.open_requests),
  }
}

/** The lines that an entry hands out, without those of what is none of its targets. Throws `Error` if they are no lines. */
export function accessLinesOf(said: unknown, known: Targets, now = Date.now()): AccessLines {
  const { lines, lost, more } = objectOf(said)
  if (!Array.isArray(lines) || lines.length > MAX_LINES || typeof more !== 'boolean') throw wrong('lines')
  const kept: AccessLine[] = []
  for (const line of lines as unknown[]) {
    if (!Array.isArray(line) || typeof line[0] !== 'string') throw wrong('lines')
    if (known.has(line[0])) kept.push(lineOf(line, now))
  }
  const numbers = Object.entries(objectOf(lost)).filter(([id]) => known.has(id))
  return {
    lines: kept,
    lost: Object.fromEntries(numbers.map(([id, count]) => [id, countOf(count)])),
    more,
  }
}

/** Its numbers are looked at where they are: there may be a million. */
function targetCountsOf(said: Record<string, unknown>): TargetCounts {
  const buckets = said.latency_buckets
  if (!Array.isArray(buckets) || buckets.length !== LATENCY_COUNTS) throw wrong('counts')
  for (let index = 0; index < LATENCY_COUNTS; index++) countOf(buckets[index])
  return {
    status_2xx: countOf(said.status_2xx),
    status_3xx: countOf(said.status_3xx),
    status_4xx: countOf(said.status_4xx),
    status_5xx: countOf(said.status_5xx),
    latency_buckets: buckets as number[],
    latency_sum_seconds: countOf(said.latency_sum_seconds),
  }
}

function lineOf(said: unknown[], now: number): AccessLine {
  const [service, at, method, host, path, status, bytes, milliseconds, ip, userAgent, requestId, instance] =
    said
  const code = countOf(status)
  if (!Number.isInteger(code) || code < MIN_STATUS || code > MAX_STATUS) throw wrong('lines')
  return [
    service as string,
    Math.min(Math.max(Math.trunc(countOf(at, Infinity)), now - MAX_AGE_MS), now),
    textOf(method, MAX_NAME_CHARACTERS),
    textOf(host, MAX_TEXT_CHARACTERS),
    textOf(path, MAX_TEXT_CHARACTERS),
    code,
    countOf(bytes, Number.MAX_SAFE_INTEGER),
    countOf(milliseconds),
    textOf(ip, MAX_TEXT_CHARACTERS),
    userAgent === null ? null : textOf(userAgent, MAX_TEXT_CHARACTERS),
    textOf(requestId, MAX_TEXT_CHARACTERS),
    instance === null ? null : textOf(instance, MAX_NAME_CHARACTERS),
  ]
}

function countOf(said: unknown, max = MAX_COUNT): number {
  if (typeof said !== 'number' || !(said >= 0) || said > max) throw wrong('numbers')
  return said
}

function textOf(said: unknown, maxCharacters: number): string {
  if (typeof said !== 'string') throw wrong('texts')
  return said.length > maxCharacters ? said.slice(0, maxCharacters) : said
}

function isName(said: unknown): said is string {
  return typeof said === 'string' && said.length <= MAX_NAME_CHARACTERS
}

function objectOf(said: unknown): Record<string, unknown> {
  return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : {}
}

function wrong(what: string): Error {
  return new Error(`its ${what} are not those of a data plane`)
}
