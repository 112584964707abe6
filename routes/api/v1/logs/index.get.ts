import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, leftSignal } from '#server/http/event-stream.ts'
import { sendLog } from '#server/http/log-events.ts'
import { openLogs } from '#server/logs/across.ts'
import { LogsQuery } from '#server/logs/schema.ts'

export default defineEndpoint({
  summary: 'Read the output of several services',
  description:
    'The logs of the services that are named, or of all in an environment, merged by time; `follow` continues with new lines in the order in which they arrive, of later services of the environment too. Each line also has `service_id`, `service`, `deploy_id` (if known) and `level`; a remark of the server about the reading has none of these. `tail` counts only lines that pass the filters.',
  auth: 'token',
  least: 'read',
  within: 'service',
  query: LogsQuery,
  response: eventStream('Events `log` with a LogLine and these fields, and `end` unless it follows'),
  errors: ['not_found', 'service_unavailable'],
  async handler({ event, query }) {
    // Opened before the answer begins: a client that has the headers misses no line after that.
    await sendLog(event, await openLogs(query, leftSignal(event)), query.follow)
  },
})
