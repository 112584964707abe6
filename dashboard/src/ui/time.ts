import { computed, onScopeDispose, ref, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue'
import { serverTime } from '../api/clock.ts'

const TICK_MS = 1_000

const now = ref(serverTime())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The time by the server's clock, once a second while anything shows it. */
export function useNow() {
  if (users++ === 0) {
    now.value = serverTime()
    timer = setInterval(() => (now.value = serverTime()), TICK_MS)
  }
  onScopeDispose(() => {
    if (--users === 0) clearInterval(timer)
  })
  return now
}

const DAY_SECONDS = 86_400
/** For dates a few months away, days matter: a certificate or a token that expires. */
const MONTHS_FROM_SECONDS = 100 * DAY_SECONDS

const UNITS: [unit: Intl.RelativeTimeFormatUnit, seconds: number, from: number][] = [
  ['year', 31_557_600, 31_557_600],
  ['month', 2_629_800, MONTHS_FROM_SECONDS],
  ['day', DAY_SECONDS, DAY_SECONDS],
  ['hour', 3_600, 3_600],
  ['minute', 60, 60],
]
/** In numbers: "yesterday" would be wrong for 47 hours, and "last mo." says little. */
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' })

/** "3 min. ago", "in 2 days"; below a minute "just now". */
export function relativeTime(moment: string, at: number): string {
  const seconds = (Date.parse(moment) - at) / 1_000
  for (const [unit, size, from] of UNITS) {
    if (Math.abs(seconds) >= from) return relative.format(Math.trunc(seconds / size), unit)
  }
  return seconds > 5 ? 'in a moment' : 'just now'
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Date and time in the user's own time zone. */
export function exactTime(moment: string): string {
  return exact.format(new Date(moment))
}

/** "850 ms", "12.3 s", "4 min 5 s", "1 h 2 min". */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = ms / 1_000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** How long something took, still counting while it has not ended; null before it started. */
export function useElapsed(
  from: MaybeRefOrGetter<string | null>,
  to: MaybeRefOrGetter<string | null>,
): ComputedRef<string | null> {
  const at = useNow()
  return computed(() => {
    const [start, end] = [toValue(from), toValue(to)]
    if (start === null) return null
    if (end !== null) return duration(Date.parse(end) - Date.parse(start))
    return duration(Math.floor((at.value - Date.parse(start)) / 1_000) * 1_000)
  })
}
