import { announceServer } from '../changes.ts'
import { AppError } from '../errors.ts'
import type { ServerRestore } from './schema.ts'
import { getRestore, moveRestore, restoreSteps } from './store.ts'
import { restoreWaits } from './waiting.ts'

/** The restore from which this server came, with its steps; null if it came from none. */
export function viewRestore(): ServerRestore | null {
  const restore = getRestore()
  if (!restore) return null
  const steps = restoreSteps().map(({ resource, id, disk, name, action, status, error }) => ({
    resource,
    id,
    disk,
    name,
    action,
    status,
    error,
  }))
  return { status: restore.status, waiting: restoreWaits(), steps }
}

/** Records that the old server is gone, so that this one goes to work. Throws `conflict` if there is nothing to confirm. */
export function confirmRestore(): ServerRestore {
  if (!moveRestore('fenced', 'running')) {
    const status = getRestore()?.status
    throw new AppError(
      'conflict',
      status === undefined
        ? 'this server was not restored from a backup'
        : `the restore is ${status}: it was confirmed already`,
    )
  }
  announceServer('restore')
  return viewRestore()!
}
