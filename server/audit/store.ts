import { useDatabase } from '../context.ts'
import type { Database, Value } from '../database/index.ts'
import type { Actor, AuditQuery, AuditRow, Resource } from './schema.ts'

const COLUMNS = [
  'id',
  'at',
  'outcome',
  'action',
  'actor_kind',
  'actor_id',
  'actor_name',
  'request_id',
  'ip',
  'user_agent',
  'resource_kind',
  'resource_id',
  'resource_name',
  'resource_environment',
  'changes',
] as const satisfies (keyof AuditRow)[]

const INSERT = `INSERT INTO audit_events (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`

/** An event with its place in the order of events. */
export type OrderedAuditRow = AuditRow & { sequence: number }

export function insertAuditEvent(database: Database, row: AuditRow): void {
  database.run(INSERT, ...COLUMNS.map((column) => row[column]))
}

/** Completes an event with what was only known later. */
export function completeAuditEvent(
  database: Database,
  id: string,
  { resource, changes }: { resource: Resource | null; changes: string },
): void {
  database.run(
    `UPDATE audit_events SET resource_kind = ?, resource_id = ?, resource_name = ?, resource_environment = ?, changes = ?
     WHERE id = ?`,
    resource?.kind ?? null,
    resource?.id ?? null,
    resource?.name ?? null,
    resource?.environment ?? null,
    changes,
    id,
  )
}

/** What a filter keeps. */
export type AuditFilter = Omit<AuditQuery, 'limit' | 'follow'>

/** The newest events that a filter keeps, newest first: at most `limit`, before the one with this sequence. */
export function selectAuditEvents(
  filter: AuditFilter,
  limit: number,
  before: number | null = null,
): OrderedAuditRow[] {
  const { where, values } = conditions(filter)
  if (before !== null) {
    where.push('sequence < ?')
    values.push(before)
  }
  return useDatabase().all<OrderedAuditRow>(
    `SELECT * FROM audit_events ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY sequence DESC LIMIT ?`,
    ...values,
    limit,
  )
}

/** The events after the one with this sequence, oldest first. */
export function selectAuditEventsAfter(
  filter: AuditFilter,
  sequence: number,
  limit: number,
): OrderedAuditRow[] {
  const { where, values } = conditions(filter)
  return useDatabase().all<OrderedAuditRow>(
    `SELECT * FROM audit_events WHERE ${[...where, 'sequence > ?'].join(' AND ')} ORDER BY sequence LIMIT ?`,
    ...values,
    sequence,
    limit,
  )
}

/** The sequence of the newest event; 0 when there is none. */
export function newestAuditSequence(): number {
  return (
    useDatabase().get<{ newest: number | null }>('SELECT max(sequence) AS newest FROM audit_events')!
      .newest ?? 0
  )
}

/** Whether someone has done the same to the same since this moment. */
export function hasAuditEvent(
  { actor, action }: { actor: Actor; action: string },
  { resource, changes }: { resource: Resource | null; changes: string[] },
  since: number,
): boolean {
  return (
    useDatabase().get(
      `SELECT 1 FROM audit_events WHERE resource_id IS ? AND at >= ? AND action = ? AND actor_kind = ? AND actor_id IS ? AND changes = ? LIMIT 1`,
      resource?.id ?? null,
      since,
      action,
      actor.kind,
      actor.id,
      JSON.stringify(changes),
    ) !== undefined
  )
}

/** Removes at most so many of the events before a moment; returns how many it removed. */
export function deleteAuditEventsBefore(moment: number, limit: number): number {
  return useDatabase().run(
    'DELETE FROM audit_events WHERE sequence IN (SELECT sequence FROM audit_events WHERE at < ? ORDER BY at LIMIT ?)',
    moment,
    limit,
  )
}

function conditions(filter: AuditFilter): { where: string[]; values: Value[] } {
  const where: string[] = []
  const values: Value[] = []
  const add = (given: Value | undefined, condition: string): void => {
    if (given === undefined) return
    where.push(condition)
    values.push(...Array.from({ length: condition.split('?').length - 1 }, () => given))
  }
  add(filter.since, 'at >= ?')
  add(filter.until, 'at < ?')
  add(filter.actor, '(actor_kind = ? OR actor_id = ? OR actor_name = ?)')
  // Up to the dot it is the kind of what was acted on.
  add(filter.action, "(action = ? OR substr(action, 1, length(?) + 1) = ? || '.')")
  add(filter.resource, '(resource_id = ? OR resource_name = ? OR resource_kind = ?)')
  add(filter.environment, 'resource_environment = ?')
  add(filter.outcome, 'outcome = ?')
  return { where, values }
}
