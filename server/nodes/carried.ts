import { useDatabase } from '../context.ts'

/** Something whose data is on a node. */
export interface BoundThing {
  kind: 'service' | 'datastore'
  id: string
  name: string
  /** Name of its environment. */
  environment: string
}

/** What is on a node. */
export interface Carried {
  instances: number
  /** The instances without a disk, which can run elsewhere. */
  movable: number
  /** Runs in progress. */
  jobs: number
  /** What has its data there. */
  bound: BoundThing[]
}

/** A service has data on its node while it has a disk, and once it had one: that stays until the service is deleted. */
export const IS_BOUND =
  "(services.disks <> '[]' OR EXISTS (SELECT 1 FROM disk_volumes WHERE service_id = services.id))"

/** What is on a node, as far as it is recorded. */
export function carriedBy(nodeId: string): Carried {
  const database = useDatabase()
  const counts = database.get<{ instances: number; movable: number; jobs: number }>(
    `SELECT count(*) AS instances, count(*) FILTER (WHERE services.disks = '[]') AS movable,
       (SELECT count(*) FROM jobs WHERE node_id = ?1 AND status = 'running') AS jobs
     FROM instances JOIN services ON services.id = service_id WHERE instances.node_id = ?1`,
    nodeId,
  )!
  const bound = database.all<BoundThing>(
    `SELECT 'service' AS kind, services.id, services.name, environments.name AS environment
     FROM services JOIN environments ON environments.id = environment_id WHERE node_id = ?1 AND ${IS_BOUND}
     UNION ALL
     SELECT 'datastore', datastores.id, datastores.name, environments.name
     FROM datastores JOIN environments ON environments.id = environment_id WHERE node_id = ?1
     ORDER BY 4, 3`,
    nodeId,
  )
  return { ...counts, bound }
}

/** Whether a service has data on its node. */
export function isBound(serviceId: string): boolean {
  return useDatabase().get(`SELECT 1 FROM services WHERE id = ? AND ${IS_BOUND}`, serviceId) !== undefined
}

/** The MiB that what is on a node may use together, with `usual` for what has no limit of its own. */
export function promisedMb(nodeId: string, usual: number): number {
  return useDatabase().get<{ sum: number }>(
    `SELECT coalesce(sum(iif(memory_limit_mb = 0, ?2, memory_limit_mb)), 0) AS sum FROM (
       SELECT services.memory_limit_mb FROM instances JOIN services ON services.id = service_id
         WHERE instances.node_id = ?1
       UNION ALL SELECT memory_limit_mb FROM datastores WHERE node_id = ?1)`,
    nodeId,
    usual,
  )!.sum
}
