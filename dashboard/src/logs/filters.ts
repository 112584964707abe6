import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { serverTime } from '../api/clock.ts'
import type { LogLine } from './line.ts'
import { momentIn } from './link.ts'

/** Recent lines that are shown before the live ones. */
export const TAIL_LINES = 2_000
/** A search asks for more lines: they are what the user is looking for. */
export const FOUND_LINES = 10_000

/** A linked line is shown with the lines around it, more of them from before than from after. */
const BEFORE_MS = 60_000
const AFTER_MS = 10_000

/** How long ago a moving range starts, such as `1h`. */
const AGO = /^(\d+)([smhd])$/
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Which lines of a log are shown. Kept in the address, so that it can be shared. */
export interface LogFilters {
  search: string
  /** How long ago it starts, such as `1h`, or a timestamp; empty for the recent lines. */
  since: string
  until: string
  deploy: string
  /** The end of the name of the instance. */
  instance: string
  stream: string
  /** Levels with commas between them. */
  level: string
  /** Only for the logs of several services: their names with commas between them, and the environment that they are in. */
  service: string
  environment: string
}

const NAMES = [
  'search',
  'since',
  'until',
  'deploy',
  'instance',
  'stream',
  'level',
] as const satisfies (keyof LogFilters)[]
const NAMES_ACROSS = [...NAMES, 'service', 'environment'] as const
/** These say which logs are shown, not which of their lines. */
const PLACES: readonly string[] = ['environment']

/**
 * The filters in the address, for the log of one service or datastore, or `across` several. `set` changes some of them;
 * `showAround` limits them to the time around a moment, or returns false if they already are.
 */
export function useLogFilters(across?: 'across'): {
  filters: ComputedRef<LogFilters>
  isFiltered: ComputedRef<boolean>
  set: (changes: Partial<LogFilters>) => void
  showAround: (moment: string) => boolean
} {
  const route = useRoute()
  const router = useRouter()
  const names = across ? NAMES_ACROSS : NAMES
  const filters = computed(() => {
    const none = NAMES_ACROSS.map((name) => [name, ''])
    const given = names.map((name) => [name, textOf(route.query[name])])
    return Object.fromEntries([...none, ...given]) as LogFilters
  })
  const isFiltered = computed(() =>
    names.some((name) => !PLACES.includes(name) && filters.value[name] !== ''),
  )

  function set(changes: Partial<LogFilters>, hash = ''): void {
    const all = { ...filters.value, ...changes }
    const query = Object.fromEntries(
      names.filter((name) => all[name] !== '').map((name) => [name, all[name]]),
    )
    void router.replace({ query, hash })
  }

  function showAround(moment: string): boolean {
    const { since, until } = timeAround(moment)
    if (filters.value.since === since && filters.value.until === until) return false
    set({ since, until }, route.hash)
    return true
  }

  // A range such as the last hour has moved since one of its lines was linked.
  const linked = momentIn(route.hash)?.name
  if (linked !== undefined && Date.parse(linked) < beginning(filters.value.since)) showAround(linked)

  return { filters, isFiltered, set: (changes) => set(changes), showAround }
}

/** The time around a line, more of it before than after. */
export function timeAround(moment: string): { since: string; until: string } {
  const at = (offset: number) => new Date(Date.parse(moment) + offset).toISOString()
  return { since: at(-BEFORE_MS), until: at(AFTER_MS) }
}

/**
 * The same filters with fixed times, for somebody who looks later at the lines that are shown: from the first one, if they have
 * no beginning, to now.
 */
export function fixedFilters(
  filters: LogFilters,
  lines: readonly Pick<LogLine, 'ts'>[],
): Record<string, string> {
  const began = beginning(filters.since)
  const since = Number.isNaN(began) ? filters.since || lines[0]?.ts || '' : new Date(began).toISOString()
  // The newest line may be ahead of this page's clock.
  const ends = lines.reduce((end, { ts }) => Math.max(end, Date.parse(ts) + 1), serverTime())
  return givenOf({ ...filters, since, until: filters.until || new Date(ends).toISOString() })
}

/** The filters that are set. */
export function givenOf(filters: LogFilters): Record<string, string> {
  return Object.fromEntries(
    NAMES_ACROSS.filter((name) => filters[name] !== '').map((name) => [name, filters[name]]),
  )
}

/** The filters as a query of the API. A log with an end time is not followed. */
export function logQuery(filters: LogFilters, tail: number): Record<string, string | number | boolean> {
  return { ...givenOf(filters), tail, ...(filters.until === '' ? { follow: true } : {}) }
}

/** The value of a local date and time field as a timestamp of the API; empty for none. */
export function momentOf(local: string): string {
  const moment = local === '' ? Number.NaN : Date.parse(local)
  return Number.isNaN(moment) ? '' : new Date(moment).toISOString()
}

/** A timestamp of the API as the value of a local date and time field; empty if it is not one. */
export function localOf(moment: string): string {
  const at = new Date(moment)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** When a moving range starts; NaN for any other. */
function beginning(since: string): number {
  const [, count, unit = ''] = AGO.exec(since) ?? []
  return serverTime() - Number(count) * (UNIT_MS[unit] ?? Number.NaN)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
