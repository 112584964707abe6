import { callersReach } from '../access/caller.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'

/**
 * Refuses a name that a service or a datastore in the environment already has. Call it in the transaction that takes the
 * name. Throws `conflict` with the holder.
 */
export function assertNameFree(environmentId: string, name: string): void {
  const holder = useDatabase().get<{ kind: 'service' | 'datastore'; id: string }>(
    `SELECT 'service' AS kind, id FROM services WHERE environment_id = ?1 AND name = ?2
     UNION ALL
     SELECT 'datastore', id FROM datastores WHERE environment_id = ?1 AND name = ?2`,
    environmentId,
    name,
  )
  if (!holder) return
  const reach = callersReach()
  const isReached = !reach || reach[holder.kind](holder.id)
  if (!isReached) throw new AppError('conflict', `name: ${name} is in use in this environment`)
  throw new AppError('conflict', `name: ${name} is in use by ${holder.kind} ${holder.id}`)
}
