import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import { containerLimits } from './container.ts'
import { configureKeyvalue } from './probe.ts'
import { memorySettings } from './settings.ts'

const MIB = 1024 * 1024

/** Applies the recorded limits to a running datastore, without a restart. Throws `runtime_error` if the engine refuses. */
export async function applyLimits(engine: Engine, row: DatastoreRow): Promise<void> {
  const limits = containerLimits(row)
  await engine.containers.update(row.id, limits)
  // PostgreSQL's memory settings are fixed at its start; the next start uses the new limit.
  if (row.kind === 'keyvalue' && row.status === 'available')
    await configureKeyvalue(row, memorySettings(row.kind, limits.memoryBytes / MIB))
}
