import { timestamp } from '#server/clock.ts'
import { useContext } from '#server/context.ts'
import type { InstanceRow } from '#server/instances/store.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { ServiceStatus } from '#server/services/schema.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'
import type { Engine } from '../engine/index.ts'

/** A container whose figures take longer is shown without them. */
const STATS_TIMEOUT_MS = 3_000

type Instance = ServiceStatus['instances'][number]

/** What a service and each of its instances are doing, with figures read now. */
export async function serviceStatus(engine: Engine, service: ServiceRow): Promise<ServiceStatus> {
  const { state, live_deploy_id } = viewService(service)
  const instances = await Promise.all(instancesOf(service.id).map((row) => statusOf(engine, row)))
  return { state, live_deploy_id, instances }
}

const STATES: Record<InstanceRow['status'], Instance['state']> = {
  starting: 'starting',
  ready: 'running',
  failing: 'failing',
  down: 'exited',
  draining: 'draining',
}

async function statusOf(engine: Engine, row: InstanceRow): Promise<Instance> {
  const running = row.status !== 'down'
  const signal = AbortSignal.any([AbortSignal.timeout(STATS_TIMEOUT_MS), useContext().stopping])
  const stats = running ? await engine.containers.stats(row.id, signal).catch(() => null) : null
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
    cpu_percent: stats?.cpuPercent ?? null,
    memory_bytes: stats?.memoryBytes ?? null,
  }
}
