import { AsyncLocalStorage } from 'node:async_hooks'
import { userInfo } from 'node:os'
import type { CommitHook, Database } from '../database/index.ts'
import { messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import { logger } from '../log.ts'
import { Bell } from '../work/bell.ts'
import type { Actor, AuditRow, Resource } from './schema.ts'
import { completeAuditEvent, insertAuditEvent } from './store.ts'

const log = logger('audit')

/** The server by itself. */
export const SYSTEM: Actor = { kind: 'system', id: null, name: null }

/** Longer ones of clients are cut. */
const MAX_USER_AGENT_CHARACTERS = 512

/** What is known of an action before it begins. */
export interface Attempt {
  actor: Actor
  action: string
  requestId?: string | null
  ip?: string | null
  userAgent?: string | undefined
}

/** What an action is about, and what it changed by now. */
export interface Effect {
  resource: Resource | null
  changes: string[]
}

/** Rings when there are new events. */
export const auditBell = new Bell()

/** Events of actions that have not ended, by id. */
const underWay = new Set<string>()

/** Whether an event may still be completed. */
export function isUnderWay(eventId: string): boolean {
  return underWay.has(eventId)
}

const current = new AsyncLocalStorage<Recording>()

/** One action that is being recorded: its event is written in the transaction of its first change. */
class Recording {
  readonly #attempt: Attempt
  readonly #look: () => Effect
  #written: { id: string; effect: Effect } | null = null
  #isWriting = false
  isEnded = false

  constructor(attempt: Attempt, look: () => Effect) {
    this.#attempt = attempt
    this.#look = look
  }

  get actor(): Actor {
    return this.#attempt.actor
  }

  get applies(): boolean {
    return !this.isEnded && !this.#isWriting
  }

  end(): void {
    this.isEnded = true
    if (!this.#written) return
    underWay.delete(this.#written.id)
    auditBell.ring()
  }

  get isWritten(): boolean {
    return this.#written !== null
  }

  /** What was written of it; if nothing was, what there is to write now. */
  get effect(): Effect {
    return this.#written?.effect ?? this.#look()
  }

  /** Writes the event, or what was not known of it before. Returns what is to be done once that is committed. */
  write(database: Database, effect = this.#look()): () => void {
    if (JSON.stringify(this.#written?.effect) === JSON.stringify(effect)) return () => {}
    this.#isWriting = true
    try {
      const id = this.#put(database, effect)
      return () => {
        this.#written = { id, effect }
        underWay.add(id)
      }
    } finally {
      this.#isWriting = false
    }
  }

  #put(database: Database, effect: Effect): string {
    if (this.#written) {
      const { resource, changes } = effect
      completeAuditEvent(database, this.#written.id, { resource, changes: JSON.stringify(changes) })
      return this.#written.id
    }
    const row = rowOf(this.#attempt, 'succeeded', effect)
    insertAuditEvent(database, row)
    return row.id
  }
}

/** Has what is done in a recorded action write its event with the first change. Called once for each database. */
export function recordChanges(database: Database): void {
  const hook: CommitHook = {
    applies: () => current.getStore()?.applies ?? false,
    run: () => current.getStore()!.write(database),
  }
  database.beforeCommit(hook)
}

/** Has the first change that a command on the host makes in a database write an event. */
export function recordHostCommand(database: Database, action: string, resource: Resource | null): void {
  const recording = new Recording({ actor: host(), action }, () => ({ resource, changes: [] }))
  database.beforeCommit({
    applies: () => recording.applies && !recording.isWritten,
    run: () => recording.write(database),
  })
}

/**
 * Records what the server does by itself, in the caller's transaction. Within somebody's action it records nothing: that action
 * has an event of its own.
 */
export function recordOwn(database: Database, action: string, resource: Resource): void {
  if (current.getStore()?.applies) return
  record(database, { actor: SYSTEM, action }, 'succeeded', { resource, changes: [] })
}

/** Who does the action that is being recorded; null for what the server does by itself. */
export function currentActor(): Actor | null {
  const recording = current.getStore()
  return recording && !recording.isEnded ? recording.actor : null
}

/** Who runs a command on the host. */
function host(): Actor {
  return { kind: 'host', id: null, name: userName() }
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container's user may have no name.
    return null
  }
}

/**
 * Does something as a recorded action. `look` says what it is about and what it changed, as seen inside of a transaction;
 * `complete` completes that once it is done; null if nothing was done after all. What fails is not recorded unless it
 * changed something.
 */
export async function recorded<T>(
  database: Database,
  attempt: Attempt,
  look: () => Effect,
  work: () => T | Promise<T>,
  complete: (result: T, effect: Effect, isWritten: boolean) => Effect | null,
): Promise<T> {
  const recording = new Recording(attempt, look)
  try {
    const result = await current.run(recording, async () => await work())
    try {
      const effect = complete(result, recording.effect, recording.isWritten)
      if (effect) recording.write(database, effect)()
    } catch (error) {
      // It is done, and saying otherwise would have it done twice.
      log.error('an event of the audit log is not complete', {
        action: attempt.action,
        error: messageOf(error),
      })
    }
    return result
  } finally {
    // Work that goes on in the background is the server's own.
    recording.end()
  }
}

/** Records what was done, or refused, in full. */
export function record(
  database: Database,
  attempt: Attempt,
  outcome: AuditRow['outcome'],
  effect: Effect,
): void {
  insertAuditEvent(database, rowOf(attempt, outcome, effect))
  queueMicrotask(() => auditBell.ring())
}

/** An event to be stored. */
function rowOf(
  { actor, action, requestId = null, ip = null, userAgent }: Attempt,
  outcome: AuditRow['outcome'],
  { resource, changes }: Effect,
): AuditRow {
  return {
    id: newId('auditEvent'),
    at: Date.now(),
    outcome,
    action,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    request_id: requestId,
    ip,
    user_agent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
    resource_kind: resource?.kind ?? null,
    resource_id: resource?.id ?? null,
    resource_name: resource?.name ?? null,
    resource_environment: resource?.environment ?? null,
    changes: JSON.stringify(changes),
  }
}
