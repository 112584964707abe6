import { setTimeout as delay } from 'node:timers/promises'
import { auditBell } from './recording.ts'
import {
  newestAuditSequence,
  selectAuditEvents,
  selectAuditEventsAfter,
  type AuditFilter,
  type OrderedAuditRow,
} from './store.ts'

/** Events that are read at a time. */
const PAGE = 500
/** Commands on the host write from other processes, which ring no bell here. */
const LOOK_EVERY_MS = 5_000

/** The newest events that a filter keeps, oldest first, and then those that come, until the signal aborts. */
export async function* followAudit(
  filter: AuditFilter,
  tail: number,
  signal: AbortSignal,
): AsyncGenerator<OrderedAuditRow> {
  let last = newestAuditSequence()
  yield* selectAuditEvents(filter, tail, last + 1).toReversed()
  while (!signal.aborted) {
    const rows = selectAuditEventsAfter(filter, last, PAGE)
    yield* rows
    if (rows.length > 0) last = rows.at(-1)!.sequence
    else await somethingAudited(signal)
  }
}

/** Every event that a filter keeps, newest first, read in pages. */
export function* allAudit(filter: AuditFilter): Generator<OrderedAuditRow> {
  let before: number | null = null
  for (;;) {
    const rows: OrderedAuditRow[] = selectAuditEvents(filter, PAGE, before)
    yield* rows
    if (rows.length < PAGE) return
    before = rows.at(-1)!.sequence
  }
}

/** Resolves when there may be new events, or when the signal aborts. Check for them just before, in the same turn. */
export async function somethingAudited(signal: AbortSignal): Promise<void> {
  const either = new AbortController()
  const any = AbortSignal.any([signal, either.signal])
  await Promise.race([auditBell.wait(any), delay(LOOK_EVERY_MS, undefined, { signal: any }).catch(() => {})])
  either.abort()
}
