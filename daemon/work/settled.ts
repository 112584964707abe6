import { EventEmitter, once } from 'node:events'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import type { Datastore } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { isFenced } from '#server/restore/fence.ts'
import { AppError } from '#server/errors.ts'
import type { Service } from '#server/services/schema.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'

/** A change waits this long for the pass that applies it; after that the answer shows what was saved. */
const APPLY_MS = 10_000
/** A removal waits longer, since containers may take some time to stop. */
const REMOVE_MS = 60_000

/** A record that a task reconciles in passes. */
interface Reconciled {
  id: string
  name: string
  generation: number
  observed_generation: number
  apply_error: string | null
}

/** Reads a record again; undefined once it is gone. */
type Read = () => Reconciled | undefined

const passes = new EventEmitter().setMaxListeners(0)

/** Called by a task after each pass over a record, and after its removal. */
export function passEnded(id: string): void {
  passes.emit(id)
}

/** The view of a changed service once the change has taken effect. Throws `runtime_error` as `settled` does. */
export async function applied(service: ServiceRow): Promise<Service> {
  await settled(service, () => getService(service.id))
  return viewService(getService(service.id) ?? service)
}

/**
 * The view of a changed datastore once the change has taken effect. A datastore that is not created yet gets the change
 * when it is. Throws `runtime_error` as `settled` does.
 */
export async function appliedDatastore(datastore: DatastoreRow): Promise<Datastore> {
  if (datastore.status === 'creating' || datastore.status === 'failed') return providedDatastore(datastore)
  await settled(datastore, () => getDatastore(datastore.id))
  return viewDatastore(getDatastore(datastore.id) ?? datastore)
}

/** The view of a new datastore once the engine was asked to create it; if that failed, the view says why. */
export async function providedDatastore(datastore: DatastoreRow): Promise<Datastore> {
  await passOver(datastore, () => getDatastore(datastore.id))
  return viewDatastore(getDatastore(datastore.id) ?? datastore)
}

/** Waits until a deleted service is gone. Throws `runtime_error` as `gone` does. */
export async function removed(serviceId: string): Promise<void> {
  await gone('service', serviceId, () => getService(serviceId))
}

/** Waits until a deleted datastore is gone. Throws `runtime_error` as `gone` does. */
export async function removedDatastore(id: string): Promise<void> {
  await gone('datastore', id, () => getDatastore(id))
}

/**
 * Waits until a pass saw this generation of a record. Throws `runtime_error` when that pass failed: the change is saved and
 * will be tried again. Returns when time is up: the change will still be applied.
 */
async function settled(record: Reconciled, read: Read): Promise<void> {
  const seen = await passOver(record, read)
  if (seen?.apply_error) throw new AppError('runtime_error', `saved; not applied yet: ${seen.apply_error}`)
}

/** The record as a pass over this generation left it; undefined when it is gone or time is up. */
async function passOver({ id, generation }: Reconciled, read: Read): Promise<Reconciled | undefined> {
  // No pass comes before the restore is confirmed; what was saved is applied then.
  if (isFenced()) return undefined
  const deadline = AbortSignal.timeout(APPLY_MS)
  for (;;) {
    const record = read()
    if (!record || record.observed_generation >= generation) return record
    if (!(await nextPass(id, deadline))) return undefined
  }
}

/**
 * Waits until a deleted record is gone. Throws `runtime_error` when its containers are still there after a minute, or at
 * once when the engine refuses; the removal continues.
 */
async function gone(kind: string, id: string, read: Read): Promise<void> {
  const deadline = AbortSignal.timeout(REMOVE_MS)
  for (let record = read(); record; record = read()) {
    const failed = record.observed_generation >= record.generation ? record.apply_error : null
    if (failed === null && (await nextPass(id, deadline))) continue
    const why = failed ?? 'its containers are still stopping'
    throw new AppError('runtime_error', `${kind} ${record.name} is still being deleted: ${why}`)
  }
}

async function nextPass(id: string, deadline: AbortSignal): Promise<boolean> {
  try {
    await once(passes, id, { signal: deadline })
    return true
  } catch {
    return false
  }
}
