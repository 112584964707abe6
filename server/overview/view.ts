import { timestamp } from '../clock.ts'
import { listDatastores, type DatastoreRow } from '../datastores/store.ts'
import { latestDeploys, type DeployFacts } from '../deploys/store.ts'
import { servedDomains } from '../domains/store.ts'
import type { Environment } from '../environments/store.ts'
import { liveStatuses } from '../instances/store.ts'
import { lastRuns, runningJobs, type JobFacts } from '../jobs/store.ts'
import { freshLatest } from '../metrics/latest.ts'
import type { ContainerReading } from '../metrics/reading.ts'
import type { Traffic } from '../metrics/traffic.ts'
import { publicUrl } from '../network/public-address.ts'
import { hostsOf } from '../services/hosts.ts'
import { liveDeploys, NOT_LIVE, stateOf } from '../services/state.ts'
import { listServices, type ServiceRow } from '../services/store.ts'
import { TYPES, wantedInstances } from '../services/types.ts'
import { plainLine } from '../text/plain-line.ts'
import type { Overview, OverviewEntry } from './schema.ts'

/** Of an error, as much as a row of a list has room for. */
const MAX_ERROR_CHARACTERS = 200

/** What has been measured, as the overview needs it. */
interface Measured {
  traffic: Traffic
  /** The containers of each service and datastore, by its id. */
  containers: Map<string, ContainerReading[]>
}

/** The services and datastores of these environments at a glance, with a few queries for each environment. */
export function viewOverview(environments: readonly Environment[], traffic: Traffic): Overview {
  const containers = freshLatest()?.reading?.containers ?? []
  const measured = { traffic, containers: Map.groupBy(containers, ({ id }) => id) }
  return {
    at: timestamp(Date.now()),
    traffic_from: timestamp(traffic.from),
    traffic_step_seconds: traffic.pointSeconds,
    entries: [
      ...environments.flatMap((environment) => viewServices(environment, measured)),
      ...environments.flatMap((environment) =>
        listDatastores(environment.id).map((row) => viewDatastore(row, environment, measured)),
      ),
    ],
  }
}

function viewServices(environment: Environment, measured: Measured): OverviewEntry[] {
  const rows = listServices(environment.id)
  if (rows.length === 0) return []
  const latest = latestDeploys(environment.id)
  const live = liveDeploys(environment.id)
  const statuses = liveStatuses(environment.id)
  const jobs = runningJobs(environment.id)
  const runs = lastRuns(environment.id)
  const domains = servedDomains()
  return rows.map((row) => {
    const [deploy, run] = [latest.get(row.id), runs.get(row.id)]
    const version = live.get(row.id) ?? NOT_LIVE
    const instances = statuses.get(row.id) ?? []
    const runsInstances = TYPES[row.type].hasInstances && row.live_deploy_id !== null && !version.isSite
    const host = hostsOf(row, environment, domains)[0]
    return {
      ...placed(row, environment, measured),
      kind: 'service',
      type: row.type,
      state: stateOf(row, deploy, version, instances, jobs.get(row.id) ?? 0),
      suspended: row.suspended === 1,
      error: shortened(errorOf(deploy, run)),
      instances: runsInstances
        ? {
            running: instances.filter((status) => status === 'ready').length,
            wanted: wantedInstances(row),
          }
        : null,
      traffic: TYPES[row.type].hasHosts ? measured.traffic.of(row.id) : null,
      latest_deploy: deploy
        ? { id: deploy.id, status: deploy.status, created_at: timestamp(deploy.created_at) }
        : null,
      last_run: run ? { id: run.id, status: run.status, finished_at: timestamp(run.finished_at) } : null,
      live_deploy_id: row.live_deploy_id,
      url: host === undefined ? null : publicUrl(host),
    }
  })
}

function viewDatastore(row: DatastoreRow, environment: Environment, measured: Measured): OverviewEntry {
  return {
    ...placed(row, environment, measured),
    kind: 'datastore',
    type: row.kind,
    state: row.status,
    suspended: false,
    error: shortened(row.error),
    instances: null,
    traffic: null,
    latest_deploy: null,
    last_run: null,
    live_deploy_id: null,
    url: null,
  }
}

/** What services and datastores have in common. */
function placed(
  { id, name, created_at }: Pick<ServiceRow, 'id' | 'name' | 'created_at'>,
  environment: Environment,
  { containers }: Measured,
) {
  return {
    id,
    name,
    environment: environment.name,
    memory: memoryOf(containers.get(id) ?? []),
    created_at: timestamp(created_at),
  }
}

/** The memory of containers together; without a limit if one of them has none. */
function memoryOf(containers: readonly ContainerReading[]): OverviewEntry['memory'] {
  const known = containers.filter(({ memoryBytes }) => memoryBytes !== null)
  if (known.length === 0) return null
  const limits = known.map(({ memoryLimitBytes }) => memoryLimitBytes)
  return {
    used_bytes: known.reduce((sum, { memoryBytes }) => sum + memoryBytes!, 0),
    limit_bytes: limits.includes(null) ? null : limits.reduce<number>((sum, limit) => sum + limit!, 0),
  }
}

/** Why the newest deploy failed; if it did not, why the last run did. */
function errorOf(deploy: DeployFacts | undefined, run: JobFacts | undefined): string | null {
  return deploy?.error ?? (run?.status === 'failed' ? run.error : null)
}

function shortened(error: string | null): string | null {
  return error === null ? null : plainLine(error.split('\n', 1)[0]!, MAX_ERROR_CHARACTERS)
}
