import { onScopeDispose } from 'vue'
import { API_BASE } from './client.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'
import type { Change } from './types.ts'

/** Wait before reopening a feed that the server refused or closed. */
const REOPEN_MS = 1_000
/** How long a first fetch waits for the feed. */
const READY_LIMIT_MS = 1_000

type Listener = (change: Change) => void

/** Sent to every listener each time the feed opens: what was fetched before may be stale. */
const RESYNC: Change = { kind: 'all', id: '*', service_id: null, action: 'resync' }

const listeners = new Set<Listener>()
let source: EventSource | null = null
let opening: PromiseWithResolvers<void> | null = null
let reopening: ReturnType<typeof setTimeout> | undefined

/** Calls `listener` for each change of the server's data until the component is gone. */
export function onChange(listener: Listener): void {
  listeners.add(listener)
  open()
  onScopeDispose(() => {
    listeners.delete(listener)
    if (listeners.size === 0) close()
  })
}

/**
 * Waits while the feed is being opened: what is fetched after that need not be fetched again. A feed that is slow or
 * closed does not block.
 */
export async function feedOpened(): Promise<void> {
  await opening?.promise
}

/**
 * A hidden page closes its connection, because a browser opens only six to one HTTP/1.1 server and they are shared by
 * all its tabs; when the page is seen again, `ready` brings it up to date.
 */
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') close()
  else open()
})
connection.onBack(() => {
  // The network cut off a request and left the feed open: only that response is missing.
  if (source) emit(RESYNC)
  else open()
})
session.onRenewal(open)

function open(): void {
  const isWanted = listeners.size > 0 && document.visibilityState !== 'hidden'
  if (source || !isWanted || connection.lost.value || session.ended.value) return
  clearTimeout(reopening)
  opening = Promise.withResolvers()
  setTimeout(opening.resolve, READY_LIMIT_MS)
  source = new EventSource(`${API_BASE}/events`)
  source.addEventListener('ready', () => {
    opening?.resolve()
    emit(RESYNC)
  })
  source.addEventListener('change', (event) => emit(JSON.parse(event.data as string) as Change))
  source.addEventListener('error', () => void recover())
}

/** The browser gives no reason for the end of a feed, so the server is asked. */
async function recover(): Promise<void> {
  close()
  await session.check().catch(() => {})
  // Otherwise it is reopened when the server answers again, or when the user has signed in.
  if (!connection.lost.value && !session.ended.value) reopening = setTimeout(open, REOPEN_MS)
}

function close(): void {
  clearTimeout(reopening)
  opening?.resolve()
  opening = null
  source?.close()
  source = null
}

function emit(change: Change): void {
  for (const listener of listeners) listener(change)
}
