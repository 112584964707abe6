import { AppError, messageOf } from '#server/errors.ts'
import type { DataPlane } from './data-plane.ts'

/** Waits until the data plane routes as the database says. Throws `runtime_error` if it cannot; the change stays saved. */
export async function routed({ dataPlane }: { dataPlane: DataPlane }): Promise<void> {
  try {
    await dataPlane.sync()
  } catch (cause) {
    throw new AppError('runtime_error', `saved; not routed yet: ${messageOf(cause)}`, { cause })
  }
}
