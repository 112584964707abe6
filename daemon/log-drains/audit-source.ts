import { somethingAudited } from '#server/audit/reading.ts'
import { isUnderWay } from '#server/audit/recording.ts'
import { viewAuditEvent } from '#server/audit/schema.ts'
import { selectAuditEventsAfter, type OrderedAuditRow } from '#server/audit/store.ts'
import { AUDIT_LOG } from '#server/log-drains/store.ts'
import { SERVER, type DrainLine } from './formats.ts'
import { BATCH_BYTES, type Source } from './source.ts'

/** How long the log waits for the end of an action, which completes its event. */
const MAX_WAIT_MS = 10_000

/** The audit log: an event is a line, numbered by its place in the order of events. */
export function auditSource(): Source {
  return {
    id: AUDIT_LOG,
    removed: new AbortController().signal,
    // Set when it was asked for.
    begin: async () => {},
    more: somethingAudited,
    async next(from, maxLines) {
      const rows = selectAuditEventsAfter({}, from - 1, maxLines)
      const lines: DrainLine[] = []
      let bytes = 0
      for (const row of rows) {
        if (bytes >= BATCH_BYTES || (isUnderWay(row.id) && Date.now() - row.at < MAX_WAIT_MS)) break
        const line = lineOf(row)
        lines.push(line)
        bytes += line.line.length
      }
      const last = rows[lines.length - 1]
      return last ? { origin: SERVER, lines, first: rows[0]!.sequence, next: last.sequence + 1 } : null
    },
  }
}

function lineOf(row: OrderedAuditRow): DrainLine {
  const event = viewAuditEvent(row)
  return { ts: event.at, stream: 'audit', line: JSON.stringify(event) }
}
