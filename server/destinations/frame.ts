import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import { newId, type IdKind } from '../ids.ts'
import { filterColumns, type FilterInput } from './filter.ts'
import type { DestinationRow } from './table.ts'

/** The columns that all new destinations have. Throws `not_found` for what the filters name. */
export function newFrame(kind: IdKind, input: FilterInput & { name: string }): DestinationRow {
  const now = Date.now()
  return {
    id: newId(kind),
    name: input.name,
    environment_id: null,
    services: null,
    ...filterColumns(input),
    enabled: 1,
    created_at: now,
    updated_at: now,
  }
}

/** The columns that a patch changes. Throws `not_found` for what the filters name. */
export function patchedFrame(
  { environment_id }: Pick<DestinationRow, 'environment_id'>,
  patch: FilterInput & { name?: string | undefined; enabled?: boolean | undefined },
): Partial<DestinationRow> {
  return {
    ...(patch.name === undefined ? {} : { name: patch.name }),
    ...filterColumns(patch, environment_id),
    ...(patch.enabled === undefined ? {} : { enabled: patch.enabled ? 1 : 0 }),
    updated_at: Date.now(),
  }
}

/** The fields that all destinations have, as the API returns them. */
export function viewFrame(row: DestinationRow) {
  return {
    id: row.id,
    name: row.name,
    environment: environmentName(row.environment_id),
    services: existingServices(row.services),
    enabled: row.enabled === 1,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** The name of an environment; null for none. */
export function environmentName(id: string | null): string | null {
  if (id === null) return null
  return useDatabase().get<{ name: string }>('SELECT name FROM environments WHERE id = ?', id)?.name ?? null
}

/** The services of a filter that still exist. */
function existingServices(services: string | null): string[] | null {
  if (services === null) return null
  return useDatabase()
    .all<{ id: string }>('SELECT id FROM services WHERE id IN (SELECT value FROM json_each(?))', services)
    .map(({ id }) => id)
}
