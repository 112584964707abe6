import { onChange, type Change } from '#server/changes.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { BoundedQueue } from '#server/queue.ts'

/** A client further behind must fetch everything again. */
const MAX_BEHIND = 1_024
const RESYNC: Change = { kind: 'all', id: '*', service_id: null, action: 'resync' }

export default defineEndpoint({
  summary: 'Follow what changes',
  auth: 'token',
  response: eventStream('Event `ready`, then `change` with {kind, id, service_id, action}'),
  handler: ({ event }) =>
    sendEvents(event, async function* (signal) {
      const queue = new BoundedQueue<Change>(MAX_BEHIND, signal)
      const stopListening = onChange((change) => queue.push(change))
      try {
        yield { event: 'ready', data: {} }
        for await (const change of queue) {
          if (queue.takeDropped() > 0) {
            queue.clear()
            yield { event: 'change', data: RESYNC }
          } else yield { event: 'change', data: change }
        }
      } finally {
        stopListening()
      }
    }),
})
