import { computed, onScopeDispose, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { MetricsRange } from '../api/types.ts'

export const RANGES: { value: MetricsRange; label: string }[] = [
  { value: '1h', label: '1 hour' },
  { value: '6h', label: '6 hours' },
  { value: '24h', label: '24 hours' },
]

/** How often there is something new: the server reads every 10 s, and tells nobody. */
const FRESH_MS = 10_000

/** The range that is shown; it stands in the address. */
export function useRange(): WritableComputedRef<MetricsRange> {
  const route = useRoute()
  const router = useRouter()
  return computed({
    get: () => RANGES.find(({ value }) => value === route.query['range'])?.value ?? '1h',
    set: (range) =>
      void router.replace({ query: { ...route.query, range: range === '1h' ? undefined : range } }),
  })
}

/** Asks again as long as the page is looked at. */
export function keepFresh(reload: () => void): void {
  const look = () => {
    if (!document.hidden) reload()
  }
  const timer = setInterval(look, FRESH_MS)
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  })
}
