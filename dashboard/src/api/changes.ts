import { onScopeDispose, readonly, ref } from 'vue'
import { api, API_BASE } from './client.ts'
import { session } from './session.ts'
import type { Change } from './types.ts'

/** Wait before a feed that the browser gave up on is opened again. */
const REOPEN_MS = 3_000

type Listener = (change: Change) => void

/** Told to every listener after each (re)connection: what was fetched before may be stale. */
const RESYNC: Change = { kind: 'all', id: '*', service_id: null, action: 'resync' }

const listeners = new Set<Listener>()
const connected = ref(true)
let source: EventSource | null = null
let reopening: ReturnType<typeof setTimeout> | undefined

/** False while the change feed is cut, that is while the page may show old data. */
export const feedConnected = readonly(connected)

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
 * A hidden page lets go of its connection, because a browser opens only six to one HTTP/1.1 server and they are shared
 * by all its tabs; when the page is seen again, `ready` brings it up to date.
 */
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') close()
  else if (listeners.size > 0) open()
})

function open(): void {
  if (source || document.visibilityState === 'hidden') return
  clearTimeout(reopening)
  source = new EventSource(`${API_BASE}/events`)
  source.addEventListener('ready', () => {
    connected.value = true
    // The first time too: what changed between the first fetch and now was told to nobody.
    emit(RESYNC)
  })
  source.addEventListener('change', (event) => emit(JSON.parse(event.data as string) as Change))
  source.addEventListener('error', () => void recover())
}

/** A cut connection is opened again by the browser; a refused one is not, and the reason has to be asked for. */
async function recover(): Promise<void> {
  connected.value = false
  if (source?.readyState !== EventSource.CLOSED) return
  close()
  const status = await api('GET /auth/status').catch(() => null)
  if (status && !status.user) return session.end()
  reopening = setTimeout(open, REOPEN_MS)
}

function close(): void {
  clearTimeout(reopening)
  source?.close()
  source = null
}

function emit(change: Change): void {
  for (const listener of listeners) listener(change)
}
