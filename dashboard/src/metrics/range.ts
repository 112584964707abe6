import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { MetricsRange } from '../api/types.ts'

export const RANGES: { value: MetricsRange; label: string }[] = [
  { value: '1h', label: '1 hour' },
  { value: '6h', label: '6 hours' },
  { value: '24h', label: '24 hours' },
]

/** The range that is shown; it is kept in the address. */
export function useRange(): WritableComputedRef<MetricsRange> {
  const route = useRoute()
  const router = useRouter()
  return computed({
    get: () => RANGES.find(({ value }) => value === route.query['range'])?.value ?? '1h',
    set: (range) =>
      void router.replace({ query: { ...route.query, range: range === '1h' ? undefined : range } }),
  })
}
