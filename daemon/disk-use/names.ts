import { useDatabase } from '#server/context.ts'
import { qualifiedName } from '#server/services/qualified-name.ts'

/** The name of a service or datastore with its environment, as people know it; the id itself if there is none any more. */
export function ownerName(id: string): string {
  const table = id.startsWith('dbs-') ? 'datastores' : 'services'
  const row = useDatabase().get<{ name: string; environment: string }>(
    `SELECT owners.name, environments.name AS environment FROM ${table} AS owners
     JOIN environments ON environments.id = owners.environment_id WHERE owners.id = ?`,
    id,
  )
  return row ? qualifiedName(row.name, { name: row.environment }) : id
}

/** The id of the service that a deploy or a job belongs to; null if there is no such record. */
export function serviceOfRun(id: string): string | null {
  const table = id.startsWith('job-') ? 'jobs' : 'deploys'
  const row = useDatabase().get<{ service_id: string }>(`SELECT service_id FROM ${table} WHERE id = ?`, id)
  return row?.service_id ?? null
}
