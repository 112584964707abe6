import { computed } from 'vue'
import { api } from '../api/client.ts'
import { keepFresh } from '../api/keep-fresh.ts'
import { useResource } from '../api/resource.ts'
import type { EventType, NotificationDelivery } from '../api/types.ts'
import { EVENTS } from './kinds.ts'

/**
 * What a notification was sent, newest first, and whether the newest arrived. The change feed does not report attempts,
 * so they are fetched regularly.
 */
export function useDeliveries(id: string) {
  const { data, error, reload } = useResource(
    (signal) => api('GET /notifications/{id}/deliveries', { id, signal }),
    {
      concerns: ({ kind }) =>
        kind === 'deploy' || kind === 'service' || kind === 'job' || kind === 'datastore',
    },
  )
  keepFresh(reload)
  /** Why the newest attempted delivery has not arrived; null when it has. */
  const failure = computed(() => {
    const tried = data.value?.find(({ attempts }) => attempts.length > 0)
    return tried && tried.status !== 'delivered' ? (tried.attempts.at(-1)?.error ?? null) : null
  })
  return { data, error, reload, failure }
}

/** The name of the event of a delivery. */
export function nameOf(type: NotificationDelivery['type']): string {
  return type === 'test' ? 'Test' : EVENTS[type]
}

/** Whether an event is bad news. */
export function isFailure(type: EventType): boolean {
  return !['deploy.started', 'deploy.succeeded', 'service.recovered', 'datastore.recovered'].includes(type)
}
