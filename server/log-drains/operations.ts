import { EventEmitter } from 'node:events'
import { newestAuditSequence } from '../audit/store.ts'
import { timestamp } from '../clock.ts'
import { useContext } from '../context.ts'
import { newFrame, patchedFrame, viewFrame } from '../destinations/frame.ts'
import { AppError } from '../errors.ts'
import { shownDestination } from '../network/outgoing.ts'
import { hiddenFault } from '../text/redaction.ts'
import {
  drainUrlFault,
  type DrainKind,
  type LogDrain,
  type LogDrainInput,
  type LogDrainPatch,
} from './schema.ts'
import { drains, type DrainRow } from './store.ts'

const HINT_CHARACTERS = 4

const listeners = new EventEmitter()

/** Calls `listener` when a drain is created, changed or deleted. */
export function onDrainsChanged(listener: () => void): () => void {
  listeners.on('changed', listener)
  return () => listeners.off('changed', listener)
}

/** The log drain with this id. Throws `not_found`. */
export function findDrain(id: string): DrainRow {
  const found = drains.get(id)
  if (!found) throw new AppError('not_found', `there is no log drain ${id}`)
  return found
}

/** Creates a log drain. It gets the lines that are written from now on. Throws `invalid_request` and `not_found`. */
export function createDrain(input: LogDrainInput): DrainRow {
  checkUrl(input.kind, input.url)
  const destination = destinationOf(input.kind, input.url, input.token ?? null)
  const row: DrainRow = {
    ...newFrame('logDrain', input),
    kind: input.kind,
    ...destination,
    ...auditColumns(input.audit ?? false),
    sent: 0,
    dropped: 0,
    last_error: null,
    last_sent_at: null,
  }
  drains.insert(row)
  listeners.emit('changed')
  return row
}

/** Changes a log drain. Throws what `createDrain` throws. */
export function patchDrain(row: DrainRow, patch: LogDrainPatch): DrainRow {
  const present = openDestination(row)
  const isSame = patch.url === undefined || patch.url === shownDestination(present.url)
  const url = isSame ? present.url : patch.url!
  const token = patch.token === undefined ? present.token : patch.token
  // A drain with a url that is no longer allowed can still be renamed, filtered and switched off.
  if (!isSame) checkUrl(row.kind, url)
  const destination = destinationOf(row.kind, url, token)
  // Otherwise anyone who may change a drain could have its token sent to a host of their own.
  if (patch.token === undefined && token !== null && new URL(url).origin !== new URL(present.url).origin)
    throw new AppError(
      'invalid_request',
      'token: the stored token is only for the current host: give it again for the new url, or null for none',
    )
  const isTurned = patch.audit !== undefined && patch.audit !== (row.audit === 1)
  drains.update(row.id, {
    ...patchedFrame(row, patch),
    ...destination,
    ...(isTurned ? auditColumns(patch.audit!) : {}),
  })
  listeners.emit('changed')
  return drains.get(row.id)!
}

export function deleteDrain(row: DrainRow): void {
  drains.remove(row.id)
  listeners.emit('changed')
}

/** The unsealed address of a drain. */
export function openDestination({ url, token }: DrainRow): { url: string; token: string | null } {
  const { vault } = useContext()
  return { url: vault.open(url), token: token && vault.open(token) }
}

/** A log drain as the API returns it. */
export function viewDrain(row: DrainRow): LogDrain {
  const { url, token } = openDestination(row)
  return {
    ...viewFrame(row),
    kind: row.kind,
    url: shownDestination(url),
    token_hint:
      token === null ? null : token.length > 2 * HINT_CHARACTERS ? token.slice(-HINT_CHARACTERS) : '***',
    sent: row.sent,
    dropped: row.dropped,
    audit: row.audit === 1,
    last_error: row.last_error,
    last_sent_at: timestamp(row.last_sent_at),
  }
}

/** From when it is asked for, events are sent. */
function auditColumns(audit: boolean): Pick<DrainRow, 'audit' | 'next_event'> {
  return { audit: audit ? 1 : 0, next_event: audit ? newestAuditSequence() + 1 : null }
}

function checkUrl(kind: DrainKind, url: string): void {
  const fault = drainUrlFault(kind, url) ?? hiddenFault(url)
  if (fault !== null) throw new AppError('invalid_request', `url: ${fault}`)
}

function destinationOf(kind: DrainKind, url: string, token: string | null): Pick<DrainRow, 'url' | 'token'> {
  if (kind === 'syslog' && token !== null)
    throw new AppError('invalid_request', 'token: not allowed for syslog, which has none')
  const { vault } = useContext()
  return { url: vault.seal(url), token: token === null ? null : vault.seal(token) }
}
