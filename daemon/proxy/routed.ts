import { AppError, messageOf } from '#server/errors.ts'
import type { DataPlane } from './data-plane.ts'

/** Resolves when the data plane routes as the database says now. Throws `runtime_error` when it does not take it: the change is saved. */
export async function routed({ dataPlane }: { dataPlane: DataPlane }): Promise<void> {
  try {
    await dataPlane.sync()
  } catch (cause) {
    throw new AppError('runtime_error', `saved; not routed yet: ${messageOf(cause)}`, { cause })
  }
}
