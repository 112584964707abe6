import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { serverTime } from '../api/clock.ts'
import { momentIn } from './link.ts'

/** Recent lines that are shown before the live ones. */
export const TAIL_LINES = 2_000
/** Of what was searched for, more is asked for: it is what the reader came for. */
export const FOUND_LINES = 10_000

/** A line that is linked to is shown with what came before and after it, the rather with the former. */
const BEFORE_MS = 60_000
const AFTER_MS = 10_000

/** How long ago a range begins that moves on. */
const AGO = /^(\d+)([smhd])$/
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What of a log is shown; it stands in the address, so that it can be sent to others. */
export interface LogFilters {
  search: string
  /** How long ago it begins, such as `1h`, or a moment; empty for the recent lines. */
  since: string
  until: string
  deploy: string
  /** The end of its name. */
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
 * The filters of the address; `set` changes some of them, and `showAround` limits them to a moment, or answers that they
 * are.
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

  // The last hour has moved on since one of its lines was linked to.
  const linked = momentIn(route.hash)?.name
  if (linked !== undefined && Date.parse(linked) < beginning(filters.value.since)) showAround(linked)

  return { filters, isFiltered, set: (changes) => set(changes), showAround }
}

/** The filters as the query of the API has them. A log that ends is not followed. */
export function logQuery(filters: LogFilters, tail: number): Record<string, string | number | boolean> {
  const given = Object.fromEntries(
    NAMES.filter((name) => filters[name] !== '').map((name) => [name, filters[name]]),
  )
  return { ...given, tail, ...(filters.until === '' ? { follow: true } : {}) }
}

/** What a field for a local date and time has, as a moment of the API; empty for none. */
export function momentOf(local: string): string {
  const moment = local === '' ? Number.NaN : Date.parse(local)
  return Number.isNaN(moment) ? '' : new Date(moment).toISOString()
}

/** A moment of the API as a field for a local date and time takes it; empty for what is none. */
export function localOf(moment: string): string {
  const at = new Date(moment)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 'yyyy-mm-ddThh:mm'.length)
}

/** When a range begins that moves on; NaN for any other. */
function beginning(since: string): number {
  const [, count, unit = ''] = AGO.exec(since) ?? []
  return serverTime() - Number(count) * (UNIT_MS[unit] ?? Number.NaN)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
