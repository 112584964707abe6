import { AppError, messageOf } from '#server/errors.ts'
import type { World } from '../world.ts'

/** Resolves when the data plane routes as the database says now. Throws `runtime_error` when it does not take it: the change is saved. */
export async function routed({ dataPlane }: World): Promise<void> {
  try {
    await dataPlane.sync()
  } catch (cause) {
    throw new AppError('runtime_error', `saved; not routed yet: ${messageOf(cause)}`, { cause })
  }
}
