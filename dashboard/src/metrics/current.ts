import { inject, provide, type InjectionKey, type ShallowRef } from 'vue'
import { api } from '../api/client.ts'
import { keepFresh } from '../api/keep-fresh.ts'
import { useResource } from '../api/resource.ts'
import type { CurrentMetrics } from '../api/types.ts'

type KnownMetrics = ShallowRef<CurrentMetrics | undefined>

const KEY: InjectionKey<KnownMetrics> = Symbol('current metrics')

/** Measures what is in use now, as long as the page is visible; undefined until the first answer. */
export function useCurrentMetrics(): KnownMetrics {
  const { data, reload } = useResource((signal) => api('GET /server/metrics', { signal }))
  keepFresh(reload)
  return data
}

/** Shares it with the components below, so that it is measured once. */
export function provideCurrentMetrics(): KnownMetrics {
  const current = useCurrentMetrics()
  provide(KEY, current)
  return current
}

/** What a component above measures and shares. */
export function sharedCurrentMetrics(): KnownMetrics {
  const current = inject(KEY)
  if (!current) throw new Error('nothing above measures what is in use now')
  return current
}
