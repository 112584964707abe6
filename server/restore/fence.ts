import { AppError } from '../errors.ts'
import { getRestore } from './store.ts'

const HOW_TO_CONFIRM =
  'this server was restored from a backup: confirm that the old server is gone with deployer restore --confirm, or on the dashboard'

/** Whether this server only looks, since the server that it was restored from may still run. */
export function isFenced(): boolean {
  return getRestore()?.status === 'fenced'
}

/** Throws `conflict` that says how to confirm the restore, while the server only looks. */
export function assertUnfenced(): void {
  if (isFenced()) throw new AppError('conflict', HOW_TO_CONFIRM)
}
