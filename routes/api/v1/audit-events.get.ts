import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setResponseHeader } from 'h3'
import { z } from 'zod'
import { allAudit, followAudit } from '#server/audit/reading.ts'
import { AuditEvent, AuditQuery, viewAuditEvent } from '#server/audit/schema.ts'
import { selectAuditEvents } from '#server/audit/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal, sendEvents } from '#server/http/event-stream.ts'

const EVENTS = 'text/event-stream'
const LINES = 'application/x-ndjson'

export default defineEndpoint({
  summary: 'Read the audit log, newest first',
  description: `Who did what, from where, and what it changed; refused attempts too. With \`follow\` a stream of Server-Sent Events: \`audit\` with the newest events, oldest first, and then with each that comes. \`Accept: ${LINES}\` exports every event that matches, one a line, whatever \`limit\` says.`,
  auth: 'token',
  least: 'full',
  query: AuditQuery,
  response: z.array(AuditEvent),
  otherForms: [EVENTS, LINES],
  async handler({ event, query: { limit, follow, ...filter } }) {
    if (follow) {
      await sendEvents(event, async function* (signal) {
        for await (const row of followAudit(filter, limit, signal))
          yield { event: 'audit', data: viewAuditEvent(row) }
      })
    } else if (event.node.req.headers.accept?.includes(LINES)) {
      setResponseHeader(event, 'content-type', LINES)
      await pipeline(Readable.from(lines(filter)), event.node.res, { signal: leftSignal(event) })
    } else return selectAuditEvents(filter, limit).map(viewAuditEvent)
    // What was written already is the answer.
    return []
  },
})

function* lines(filter: Parameters<typeof allAudit>[0]): Generator<string> {
  for (const row of allAudit(filter)) yield `${JSON.stringify(viewAuditEvent(row))}\n`
}
