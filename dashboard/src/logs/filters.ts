import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { serverTime } from '../api/clock.ts'
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
}

const NAMES = [
  'search',
  'since',
  'until',
  'deploy',
  'instance',
  'stream',
] as const satisfies (keyof LogFilters)[]

/**
 * The filters in the address. `set` changes some of them; `showAround` limits them to the time around a moment, or
 * returns false if they already are.
 */
export function useLogFilters(): {
  filters: ComputedRef<LogFilters>
  isFiltered: ComputedRef<boolean>
  set: (changes: Partial<LogFilters>) => void
  showAround: (moment: string) => boolean
} {
  const route = useRoute()
  const router = useRouter()
  const filters = computed(
    () => Object.fromEntries(NAMES.map((name) => [name, textOf(route.query[name])])) as unknown as LogFilters,
  )
  const isFiltered = computed(() => NAMES.some((name) => filters.value[name] !== ''))

  function set(changes: Partial<LogFilters>, hash = ''): void {
    const all = { ...filters.value, ...changes }
    const query = Object.fromEntries(
      NAMES.filter((name) => all[name] !== '').map((name) => [name, all[name]]),
    )
    void router.replace({ query, hash })
  }

  function showAround(moment: string): boolean {
    const at = (offset: number) => new Date(Date.parse(moment) + offset).toISOString()
    const [since, until] = [at(-BEFORE_MS), at(AFTER_MS)]
    if (filters.value.since === since && filters.value.until === until) return false
    set({ since, until }, route.hash)
    return true
  }

  // A range such as the last hour has moved since one of its lines was linked.
  const linked = momentIn(route.hash)?.name
  if (linked !== undefined && Date.parse(linked) < beginning(filters.value.since)) showAround(linked)

  return { filters, isFiltered, set: (changes) => set(changes), showAround }
}

/** The filters as a query of the API. A log with an end time is not followed. */
export function logQuery(filters: LogFilters, tail: number): Record<string, string | number | boolean> {
  const given = Object.fromEntries(
    NAMES.filter((name) => filters[name] !== '').map((name) => [name, filters[name]]),
  )
  return { ...given, tail, ...(filters.until === '' ? { follow: true } : {}) }
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
