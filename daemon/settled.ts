import { EventEmitter, once } from 'node:events'
import { AppError } from '#server/errors.ts'
import type { Service } from '#server/services/schema.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'

/** A change waits this long for the pass that applies it; then the answer is the saved view. */
const APPLY_MS = 10_000
/** A removal waits longer, since containers may take their time to stop. */
const REMOVE_MS = 60_000

const passes = new EventEmitter().setMaxListeners(0)

/** Told by the supervisor after each pass over a service, and after its removal. */
export function passEnded(serviceId: string): void {
  passes.emit(serviceId)
}

/**
 * Waits until a pass saw this generation of a service. Throws `runtime_error` when that pass failed: the change is
 * saved, and goes on being tried. When time is up it returns: the change will be applied.
 */
export async function settled(serviceId: string, generation: number): Promise<void> {
  const deadline = AbortSignal.timeout(APPLY_MS)
  for (;;) {
    const service = getService(serviceId)
    if (!service) return
    if (service.observed_generation >= generation) {
      if (service.apply_error === null) return
      throw new AppError('runtime_error', `saved; not applied yet: ${service.apply_error}`)
    }
    if (!(await nextPass(serviceId, deadline))) return
  }
}

/**
 * Waits until a deleted service is gone. Throws `runtime_error` when its containers are not after a minute, or at once
 * when the engine does not do it; the removal goes on.
 */
export async function removed(serviceId: string): Promise<void> {
  const deadline = AbortSignal.timeout(REMOVE_MS)
  for (let service = getService(serviceId); service; service = getService(serviceId)) {
    const failed = service.observed_generation >= service.generation ? service.apply_error : null
    if (failed === null && (await nextPass(serviceId, deadline))) continue
    const why = failed ?? 'its containers are still stopping'
    throw new AppError('runtime_error', `service ${service.name} is being deleted, which goes on: ${why}`)
  }
}

async function nextPass(serviceId: string, deadline: AbortSignal): Promise<boolean> {
  try {
    await once(passes, serviceId, { signal: deadline })
    return true
  } catch {
    return false
  }
}

/** The view of a changed service once the change has taken effect; see `settled`. */
export async function applied(service: ServiceRow): Promise<Service> {
  await settled(service.id, service.generation)
  return viewService(getService(service.id) ?? service)
}
