import { useDatabase } from '../context.ts'
import { IN_PROGRESS } from '../deploys/states.ts'
import type { DeployFacts } from '../deploys/store.ts'
import { isDiskHeld } from '../disks/holds.ts'
import { isComingUp, type InstanceStatus } from '../instances/states.ts'
import type { ServiceState } from './schema.ts'
import type { ServiceRow } from './store.ts'

/** The live deploy of a service, as views need it. */
export interface Live {
  port: number | null
  /** Whether it is served from its published folder, so that no program runs. */
  isSite: boolean
}

export const NOT_LIVE: Live = { port: null, isSite: false }

/** The live deploys of an environment's services, or of one service, by the service's id. */
export function liveDeploys(environmentId: string, only?: string): Map<string, Live> {
  const rows = useDatabase().all<{ id: string; port: number | null; site_id: string | null }>(
    `SELECT services.id, deploys.port, deploys.site_id FROM services JOIN deploys ON deploys.id = services.live_deploy_id
     WHERE services.${only === undefined ? 'environment_id' : 'id'} = ?`,
    only ?? environmentId,
  )
  return new Map(rows.map(({ id, port, site_id }) => [id, { port, isSite: site_id !== null }]))
}

/** What a service is doing, computed from the desired and the actual state. */
export function stateOf(
  row: ServiceRow,
  latest: DeployFacts | undefined,
  live: Live,
  instances: InstanceStatus[],
  jobs: number,
): ServiceState {
  if (row.deleting) return 'deleting'
  if (row.suspended || isDiskHeld(row.id)) return 'suspended'
  if (row.live_deploy_id === null) return stateBeforeLive(latest)
  if (row.type === 'cron_job') return jobs > 0 ? 'running' : 'idle'
  if (row.instances === 0) return 'idle'
  if (live.isSite) return 'running'
  const ready = instances.filter((status) => status === 'ready').length
  if (ready >= row.instances) return 'running'
  if (ready > 0) return 'degraded'
  return row.apply_error === null && isComingUp(instances) ? 'deploying' : 'down'
}

function stateBeforeLive(latest: DeployFacts | undefined): ServiceState {
  if (!latest) return 'not_deployed'
  if (IN_PROGRESS.includes(latest.status)) return 'deploying'
  return latest.status === 'canceled' ? 'not_deployed' : 'failed'
}
