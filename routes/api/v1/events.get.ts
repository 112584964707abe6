import { changesForCaller } from '#server/access/feed.ts'
import { followChanges, type Change } from '#server/changes.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventBytes, eventStream, sendEvents } from '#server/http/event-stream.ts'

const written = new WeakMap<Change, Buffer>()

/** A change as it is sent, formatted once for all clients. */
function changeEvent(change: Change): Buffer {
  const bytes = written.get(change) ?? eventBytes({ event: 'change', data: change })
  written.set(change, bytes)
  return bytes
}

export default defineEndpoint({
  summary: 'Follow what changes',
  description:
    'Each change has a kind and an id; fetch that object. `resync` says that changes were missed: fetch everything.',
  auth: 'token',
  least: 'read',
  within: 'service',
  response: eventStream('Event `ready`, then `change` with {kind, id, service_id, action}'),
  handler: ({ event }) =>
    sendEvents(event, async function* (signal) {
      const changes = changesForCaller(followChanges(signal))
      yield { event: 'ready', data: {} }
      for await (const change of changes) yield changeEvent(change)
    }),
})
