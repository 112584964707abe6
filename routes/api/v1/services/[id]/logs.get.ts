import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, leftSignal } from '#server/http/event-stream.ts'
import { sendLog } from '#server/http/log-events.ts'
import { openServiceLog } from '#server/logs/read.ts'
import { ServiceLogQuery } from '#server/logs/schema.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: "Read the output of a service's containers",
  description:
    'Includes containers that are gone: it continues across deploys, crashes and restarts, for as long as it is kept. With `access_log`, requests are lines of the stream `access`. `tail` counts only lines that pass the filters.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: ServiceLogQuery,
  response: eventStream('Events `log` with a LogLine, and `end` unless it follows'),
  errors: ['service_unavailable'],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment)
    // Opened before the answer begins: a client that has the headers misses no line after that.
    await sendLog(event, await openServiceLog(service.id, query, leftSignal(event)), query.follow)
  },
})
