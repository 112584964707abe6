import { randomHex } from '../ids.ts'
import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { InstanceStatus } from './states.ts'

/**
 * A container that a service should have. Its id is the container's name, `DEPLOYER_INSTANCE_ID` and `instance` everywhere.
 */
export interface InstanceRow {
  id: string
  service_id: string
  deploy_id: string
  /** Where its container is. */
  node_id: string
  status: InstanceStatus
  /** Address in the environment's network. */
  address: string
  /** Address at which the data plane reaches it; null until it has started, and for a program without a port. */
  upstream_host: string | null
  upstream_port: number | null
  restarts: number
  exit_code: number | null
  /** Why it is not ready, for the service's status. */
  reason: string | null
  started_at: number | null
  left_rotation_at: number | null
  /** The container's settings as the engine reported them when it started; null until then. */
  settings: string | null
  created_at: number
}

/** Length of the hex suffix after the service's id. */
const SUFFIX_BYTES = 3
const SUFFIX_CHARACTERS = 5

/** A new instance name: `<service id>-<5 hex>`. */
export function newInstanceId(serviceId: string): string {
  return `${serviceId}-${randomHex(SUFFIX_BYTES).slice(0, SUFFIX_CHARACTERS)}`
}

/** Records an instance that is about to be created. */
export function insertInstance({
  id,
  service_id,
  deploy_id,
  node_id,
  address,
}: Pick<InstanceRow, 'id' | 'service_id' | 'deploy_id' | 'node_id' | 'address'>): void {
  useDatabase().run(
    `INSERT INTO instances (id, service_id, deploy_id, node_id, status, address, created_at)
     VALUES (?, ?, ?, ?, 'starting', ?, ?)`,
    id,
    service_id,
    deploy_id,
    node_id,
    address,
    Date.now(),
  )
}

export function getInstance(id: string): InstanceRow | undefined {
  return useDatabase().get<InstanceRow>('SELECT * FROM instances WHERE id = ?', id)
}

/** The instances of a service, oldest first. */
export function instancesOf(serviceId: string): InstanceRow[] {
  return useDatabase().all<InstanceRow>(
    'SELECT * FROM instances WHERE service_id = ? ORDER BY created_at, id',
    serviceId,
  )
}

/** All instances of the server. */
export function allInstances(): InstanceRow[] {
  return useDatabase().all<InstanceRow>('SELECT * FROM instances ORDER BY created_at, id')
}

/** Sets columns other than the status. */
export function updateInstance(id: string, columns: Partial<Omit<InstanceRow, 'id' | 'status'>>): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE instances SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Deletes the record of an instance whose container is gone. */
export function deleteInstance(id: string): void {
  useDatabase().run('DELETE FROM instances WHERE id = ?', id)
}

/** For each service, the statuses of its live deploy's instances that are not being removed. */
export function liveStatuses(environmentId: string): Map<string, InstanceStatus[]> {
  const rows = useDatabase().all<Pick<InstanceRow, 'service_id' | 'status'>>(
    `SELECT instances.service_id, instances.status FROM instances JOIN services ON services.id = instances.service_id
     WHERE services.environment_id = ? AND instances.status <> 'draining' AND instances.deploy_id = services.live_deploy_id`,
    environmentId,
  )
  const byService = Map.groupBy(rows, ({ service_id }) => service_id)
  return new Map(Array.from(byService, ([id, found]) => [id, found.map(({ status }) => status)]))
}
