import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import { containerLimits } from './container.ts'
import { configureKeyvalue } from './probe.ts'
import { memorySettings } from './settings.ts'

const MIB = 1024 * 1024

/** Gives a running datastore the limits of its record, without a restart. Throws `runtime_error` when the engine does not take them. */
export async function applyLimits(engine: Engine, row: DatastoreRow): Promise<void> {
  const limits = containerLimits(row)
  await engine.containers.update(row.id, limits)
  // What PostgreSQL takes of its memory is fixed at its start; the next one follows the limit.
  if (row.kind === 'keyvalue' && row.status === 'available')
    await configureKeyvalue(row, memorySettings(row.kind, limits.memoryBytes / MIB))
}
