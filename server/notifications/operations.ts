import { randomBytes } from 'node:crypto'
import { useContext } from '../context.ts'
import { newFrame, patchedFrame } from '../destinations/frame.ts'
import { AppError } from '../errors.ts'
import { decoded, shownDestination } from '../network/outgoing.ts'
import { hiddenFault } from '../text/redaction.ts'
import type { NotificationInput, NotificationPatch } from './schema.ts'
import { notifications, type NotificationRow } from './store.ts'
import type { NotificationKind } from './types.ts'

/** 192 bits, as the specification proposes (Standard Webhooks, "Signature scheme"). */
const SECRET_BYTES = 24

/** The notification with this id. Throws `not_found`. */
export function findNotification(id: string): NotificationRow {
  const found = notifications.get(id)
  if (!found) throw new AppError('not_found', `there is no notification ${id}`)
  return found
}

/**
 * Creates a notification. Its secret is shown only now. Throws `invalid_request`, and `not_found` for what its filters name.
 */
export function createNotification(input: NotificationInput): {
  row: NotificationRow
  secret: string | null
} {
  const { kind, events = null } = input
  const { vault } = useContext()
  const secret = kind === 'webhook' ? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` : null
  const destination = destinationOf(kind, input.url ?? null, input.to ?? [])
  const row: NotificationRow = {
    ...newFrame('notification', input),
    kind,
    ...destination,
    secret: secret === null ? null : vault.seal(secret),
    events: events && JSON.stringify(events),
  }
  notifications.insert(row)
  return { row, secret }
}

/** Changes a notification. Throws what `createNotification` throws. */
export function patchNotification(row: NotificationRow, patch: NotificationPatch): NotificationRow {
  const { url, to, events } = patch
  const present = openUrl(row)
  // Clients may send back the shortened address that they were shown.
  const isSame = url === undefined || (present !== null && url === shownDestination(present))
  const recipients = to ?? (JSON.parse(row.recipients) as string[])
  // A notification that is no longer allowed, or whose mail server is gone, can still be renamed, filtered and switched off.
  const isKept = isSame && to === undefined
  const destination = isKept ? {} : destinationOf(row.kind, isSame ? present : url, recipients)
  notifications.update(row.id, {
    ...patchedFrame(row, patch),
    ...destination,
    ...(events === undefined ? {} : { events: events && JSON.stringify(events) }),
  })
  return notifications.get(row.id)!
}

export function deleteNotification(row: NotificationRow): void {
  notifications.remove(row.id)
}

/** The URL of a notification; null for e-mail. */
export function openUrl(row: NotificationRow): string | null {
  return row.url === null ? null : useContext().vault.open(row.url)
}

/** The topic at the end of an ntfy URL; null when there is none. */
export function topicOf({ pathname }: URL): string | null {
  const last = pathname.split('/').findLast((part) => part !== '')
  return last === undefined ? null : decoded(last)
}

function destinationOf(
  kind: NotificationKind,
  url: string | null,
  to: string[],
): Pick<NotificationRow, 'url' | 'recipients'> {
  const { options, vault } = useContext()
  if (kind === 'email') {
    if (url !== null) throw new AppError('invalid_request', 'url: not allowed for e-mail; give `to`')
    if (to.length === 0) throw new AppError('invalid_request', 'to: is required for e-mail')
    if (options.mail === null)
      throw new AppError(
        'invalid_request',
        'kind: e-mail needs a mail server: start the server with --smtp-url and --smtp-from',
      )
    return { url: null, recipients: JSON.stringify(to) }
  }
  if (to.length > 0) throw new AppError('invalid_request', `to: only for e-mail; ${kind} has a url`)
  if (url === null) throw new AppError('invalid_request', `url: is required for ${kind}`)
  const fault = hiddenFault(url)
  if (fault !== null) throw new AppError('invalid_request', `url: ${fault}`)
  if (kind === 'ntfy' && !topicOf(new URL(url)))
    throw new AppError('invalid_request', 'url: must name a topic, such as https://ntfy.sh/my-topic')
  return { url: vault.seal(url), recipients: '[]' }
}
