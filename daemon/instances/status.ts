import { timestamp } from '#server/clock.ts'
import type { InstanceRow } from '#server/instances/store.ts'
import { instancesOf } from '#server/instances/store.ts'
import { freshContainers } from '#server/metrics/latest.ts'
import type { ContainerReading } from '#server/metrics/reading.ts'
import { nodeName } from '#server/nodes/store.ts'
import type { ServiceStatus } from '#server/services/schema.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'

type Instance = ServiceStatus['instances'][number]

/** Returns the state of a service and its instances, with their latest CPU and memory figures. */
export function serviceStatus(service: ServiceRow): ServiceStatus {
  const { state, live_deploy_id } = viewService(service)
  const figures = freshContainers()
  const instances = instancesOf(service.id).map((row) => statusOf(row, figures.get(row.id)))
  return { state, live_deploy_id, instances }
}

const STATES: Record<InstanceRow['status'], Instance['state']> = {
  starting: 'starting',
  ready: 'running',
  failing: 'failing',
  down: 'exited',
  draining: 'draining',
}

function statusOf(row: InstanceRow, figures: ContainerReading | undefined): Instance {
  return {
    name: row.id,
    state: STATES[row.status],
    health:
      row.status === 'ready'
        ? 'healthy'
        : row.status === 'failing' || row.status === 'down'
          ? 'unhealthy'
          : 'unknown',
    started_at: timestamp(row.started_at),
    restarts: row.restarts,
    exit_code: row.exit_code,
    reason: row.reason,
    cpu_percent: figures?.cpuPercent ?? null,
    memory_bytes: figures?.memoryBytes ?? null,
    node: row.node_id,
    node_name: nodeName(row.node_id),
  }
}
