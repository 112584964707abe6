import { getRouterParams, type H3Event } from 'h3'
import { callersAccess } from '../access/caller.ts'
import { actionOf } from '../audit/action.ts'
import { changesBetween, fieldsOf, tellable } from '../audit/changes.ts'
import { record, recorded, type Attempt, type Effect } from '../audit/recording.ts'
import type { Resource } from '../audit/schema.ts'
import { hasAuditEvent } from '../audit/store.ts'
import { useDatabase } from '../context.ts'
import { loadEnvironment } from '../environments/store.ts'
import { messageOf } from '../errors.ts'
import { kindOfId } from '../ids.ts'
import { logger } from '../log.ts'
import { getService } from '../services/store.ts'
import {
  attemptOf,
  changesSomething,
  isRecorded,
  namedIn,
  routeOf,
  type AuditedContract,
} from './attempts.ts'
import type { Principal } from './auth.ts'
import { itemReader, stateReader, valueOf, type Reader } from './readers.ts'

const log = logger('audit')

/** The same reads of one reader are one event for this long. */
const READ_AGAIN_MS = 10 * 60_000

interface Operation {
  event: H3Event
  spec: AuditedContract & {
    response?: unknown
    changes?: ((reply: never, body: never) => string[] | null) | undefined
    auditedAs?: ((body: never) => string | null) | undefined
  }
  principal: Principal
  body: unknown
}

/**
 * Runs an operation, and records what it changes: its event is in the transaction of its first change. What it is about and
 * what differs afterwards is read by the contracts of the paths above it, so no endpoint knows of this.
 */
export async function audited<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
  const { event, spec, principal, body } = operation
  if (!isRecorded(event.method, spec)) return work()
  const path = routeOf(event)
  const action = spec.auditedAs?.(body as never) ?? (spec.audit || actionOf(event.method, path))
  const attempt = attemptOf(event, principal, action)
  const { reader: item, unread } = await itemReader(path)
  const read = (reader: Reader | null): unknown => reader && valueOf(reader, event)
  const parameters = getRouterParams(event, { decode: true })
  const named = item ? unread.map((name) => `${name}: ${parameters[name]}`) : []
  if (!changesSomething(event.method, spec)) {
    const result = await work()
    // Who sees no secrets has read none.
    if (callersAccess()?.secrets !== false)
      recordRead(attempt, {
        resource: resourceOf(result) ?? resourceOf(read(item)),
        changes: named,
      })
    return result
  }
  const about = resourceOf(read(item)) ?? namedIn(event)
  const changed = isUpdate(event.method) ? await updateOf(path, body, read) : () => fieldsOf(body)
  const complete = (reply: T, { changes }: Effect, isWritten: boolean): Effect | null => {
    if (event.context.changedNothing === true) return null
    if (isUpdate(event.method) && !isWritten && changes.length === named.length) return null
    const made = action.endsWith('.created') ? resourceOf(reply) : null
    const told = () => [...named, ...fieldsOf(body, describedIn(tellable(spec.response, reply)))]
    return {
      resource: made ?? about ?? resourceOf(reply),
      changes: spec.changes?.(reply as never, body as never) ?? (isUpdate(event.method) ? changes : told()),
    }
  }
  const look = () => ({ resource: about, changes: [...named, ...changed()] })
  return recorded(useDatabase(), attempt, look, work, complete)
}

/** What an update has changed since now, whenever it is asked. */
async function updateOf(
  path: string,
  body: unknown,
  read: (reader: Reader | null) => unknown,
): Promise<() => string[]> {
  const { reader, name } = await stateReader(path)
  const before = read(reader)
  // What a PUT makes.
  if (reader && before === null) return () => fieldsOf(body, read(reader))
  return () => changesBetween(before, read(reader), body, name)
}

/** Records that something secret was read: of one reader once in a while, since a page reads it again with every change. */
function recordRead(attempt: Attempt, effect: Effect): void {
  try {
    const isKnown = hasAuditEvent(attempt, effect, Date.now() - READ_AGAIN_MS)
    if (!isKnown) record(useDatabase(), attempt, 'succeeded', effect)
  } catch (error) {
    // A full disk must not prevent requests that read.
    log.warn('a read of secrets could not be recorded', { action: attempt.action, error: messageOf(error) })
  }
}

function isUpdate(method: string): boolean {
  return method === 'PATCH' || method === 'PUT'
}

/** The record that an answer is about, with an id: the answer itself, or one of its parts. */
function describedIn(answer: unknown): Record<string, unknown> | undefined {
  const parts: unknown[] = Object.values(answer ?? {})
  return [answer, ...parts].find(
    (each): each is Record<string, unknown> =>
      typeof (each as { id?: unknown } | null)?.id === 'string' &&
      kindOfId((each as { id: string }).id) !== null,
  )
}

/** What an answer describes, as far as it has an id. A list is about nothing in particular. */
function resourceOf(answer: unknown): Resource | null {
  const found = Array.isArray(answer) ? undefined : describedIn(answer)
  if (!found) return null
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const service = typeof found.service_id === 'string' ? getService(found.service_id) : undefined
  return {
    kind: kindOfId(found.id as string)!,
    id: found.id as string,
    name: text(found.name) ?? text(found.domain) ?? text(found.email) ?? service?.name ?? null,
    environment: text(found.environment) ?? (service ? loadEnvironment(service.environment_id).name : null),
  }
}
