import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, leftSignal } from '#server/http/event-stream.ts'
import { sendLog } from '#server/http/log-events.ts'
import { openServiceLog } from '#server/logs/read.ts'
import { DatastoreLogQuery } from '#server/logs/schema.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read the output of a datastore',
  description:
    'Includes containers that are gone: it continues across crashes, restores and upgrades, for as long as it is kept. `tail` counts only lines that pass the filters.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: DatastoreLogQuery,
  response: eventStream('Events `log` with a LogLine, and `end` unless it follows'),
  errors: ['service_unavailable'],
  async handler({ event, params, query }) {
    const { id } = findDatastore(params.id, query.environment)
    // Opened before the answer begins: a client that has the headers misses no line after that.
    await sendLog(event, await openServiceLog(id, query, leftSignal(event)), query.follow)
  },
})
