import { announceDatastore, announceService, onChange } from '#server/changes.ts'
import { recordMoved, runningMove } from '#server/moves/store.ts'
import { ReplacementCanceled } from '../replacements/work.ts'

/** How often the progress of a copy is recorded. */
const PROGRESS_MS = 1_000

/**
 * Runs `work`, whose signal also fires when the move of this datastore or service is canceled; then ReplacementCanceled is
 * thrown.
 */
export async function whileMoving(
  id: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const canceled = new AbortController()
  const stopListening = onChange((change) => {
    if (change.id === id && !runningMove(id)) canceled.abort(new ReplacementCanceled('the move was canceled'))
  })
  try {
    await work(AbortSignal.any([signal, canceled.signal]))
  } catch (error) {
    canceled.signal.throwIfAborted()
    throw error
  } finally {
    stopListening()
  }
}

/** Returns what takes how many bytes of a move are copied, and records it now and then. */
export function progressOf(id: string, kind: 'datastore' | 'service', total: number | null) {
  let recordedAt = -Infinity
  return (bytes: number): void => {
    const now = performance.now()
    if (now - recordedAt < PROGRESS_MS) return
    recordedAt = now
    recordMoved(id, bytes, total)
    if (kind === 'datastore') announceDatastore(id)
    else announceService(id)
  }
}
