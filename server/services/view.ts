import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { IN_PROGRESS } from '../deploys/states.ts'
import { latestDeploys, listDeploys, type DeployFacts } from '../deploys/store.ts'
import { viewDeploy } from '../deploys/view.ts'
import { groupNamesByService } from '../env-groups/store.ts'
import type { Environment } from '../environments/store.ts'
import { isComingUp, type InstanceStatus } from '../instances/states.ts'
import { liveStatuses } from '../instances/store.ts'
import { lastRuns, runningJobs, type JobFacts } from '../jobs/store.ts'
import { viewJob } from '../jobs/view.ts'
import { publicUrl } from '../network/public-address.ts'
import { servedDomains } from '../domains/store.ts'
import { customDomainsOf, hostsOf } from './hosts.ts'
import { internalPort } from './ports.ts'
import type { Service, ServiceState } from './schema.ts'
import { aptPackagesOf, listServices, type ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/** The live deploy of a service, as views need it. */
interface Live {
  port: number | null
  /** Whether it is served from its published folder, so that no program runs. */
  isSite: boolean
}

const NOT_LIVE: Live = { port: null, isSite: false }

/** What a view needs in addition to the row, read once for a whole environment. */
interface Surroundings {
  environment: Environment
  /** The served domains, the default first. */
  domains: string[]
  latest: Map<string, DeployFacts>
  instances: Map<string, InstanceStatus[]>
  live: Map<string, Live>
  groups: Map<string, string[]>
  /** The number of running jobs, by service. */
  jobs: Map<string, number>
  /** The newest ended run of each cron job. */
  lastRuns: Map<string, JobFacts>
}

/** The services of an environment as the API returns them, by name; all, or only those that are wanted. */
export function viewServices(
  environment: Environment,
  isWanted: (row: ServiceRow) => boolean = () => true,
): Service[] {
  const rows = listServices(environment.id).filter(isWanted)
  if (rows.length === 0) return []
  const surroundings = readSurroundings(environment)
  return rows.map((row) => view(row, surroundings))
}

/** One service as the API returns it. */
export function viewService(row: ServiceRow): Service {
  const environment = useDatabase().get<Environment>(
    'SELECT * FROM environments WHERE id = ?',
    row.environment_id,
  )!
  return view(row, readSurroundings(environment, row.id))
}

/** What a service is doing, computed from the desired and the actual state. */
function stateOf(
  row: ServiceRow,
  latest: DeployFacts | undefined,
  live: Live,
  instances: InstanceStatus[],
  jobs: number,
): ServiceState {
  if (row.deleting) return 'deleting'
  if (row.suspended) return 'suspended'
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

function readSurroundings(environment: Environment, only?: string): Surroundings {
  const database = useDatabase()
  return {
    environment,
    domains: servedDomains(),
    latest: only === undefined ? latestDeploys(environment.id) : latestDeployOf(only),
    instances: liveStatuses(environment.id),
    jobs: runningJobs(environment.id),
    lastRuns: lastRuns(environment.id, only),
    live: new Map(
      rows<{ id: string; port: number | null; site_id: string | null }>(
        database,
        'SELECT services.id, deploys.port, deploys.site_id FROM services JOIN deploys ON deploys.id = services.live_deploy_id',
        environment.id,
        only,
      ).map(({ id, port, site_id }) => [id, { port, isSite: site_id !== null }]),
    ),
    groups: groupNamesByService(environment.id, only),
  }
}

function rows<T>(database: Database, select: string, environmentId: string, only: string | undefined): T[] {
  return only === undefined
    ? database.all<T>(`${select} WHERE services.environment_id = ?`, environmentId)
    : database.all<T>(`${select} WHERE services.id = ?`, only)
}

function latestDeployOf(serviceId: string): Map<string, DeployFacts> {
  const row = listDeploys(serviceId, 1)[0]
  return new Map(row ? [[serviceId, row]] : [])
}

function view(row: ServiceRow, surroundings: Surroundings): Service {
  const latest = surroundings.latest.get(row.id)
  const hosts = hostsOf(row, surroundings.environment, surroundings.domains)
  const customDomains = customDomainsOf(row)
  const live = surroundings.live.get(row.id) ?? NOT_LIVE
  const lastRun = surroundings.lastRuns.get(row.id)
  const listens = TYPES[row.type].listens && !live.isSite
  const hookPath = `/hooks/deploy/${row.id}?key=${row.deploy_hook_key}`
  return {
    id: row.id,
    name: row.name,
    environment: surroundings.environment.name,
    ...viewSettings(row),
    deploy_hook_key: row.deploy_hook_key,
    live_deploy_id: row.live_deploy_id,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
    settings_updated_at: timestamp(row.settings_updated_at),
    deploy_hook_path: hookPath,
    env_groups: surroundings.groups.get(row.id) ?? [],
    hosts: [...hosts, ...customDomains],
    internal_host: listens ? row.name : null,
    internal_port: listens ? internalPort(row, live.port) : null,
    latest_deploy: latest ? viewDeploy(latest) : null,
    last_run: lastRun ? viewJob(lastRun) : null,
    state: stateOf(
      row,
      latest,
      live,
      surroundings.instances.get(row.id) ?? [],
      surroundings.jobs.get(row.id) ?? 0,
    ),
    url: hosts[0] === undefined ? null : publicUrl(hosts[0]),
  }
}

/** The settings of a service as the API returns them. */
export function viewSettings(row: ServiceRow) {
  return {
    type: row.type,
    runtime: row.runtime,
    repo_url: row.repo_url === null ? null : shownUrl(row.repo_url, row.repo_credentials !== null),
    branch: row.branch,
    root_dir: row.root_dir,
    dockerfile_path: row.dockerfile_path,
    image: row.image,
    build_command: row.build_command,
    start_command: row.start_command,
    publish_dir: row.publish_dir,
    pre_deploy_command: row.pre_deploy_command,
    health_check_path: row.health_check_path,
    port: row.port,
    schedule: row.schedule,
    disk_mount_path: row.disk_mount_path,
    instances: row.instances,
    memory_limit_mb: row.memory_limit_mb,
    cpu_limit: row.cpu_limit,
    apt_packages: aptPackagesOf(row),
    auto_deploy: row.auto_deploy === 1,
    suspended: row.suspended === 1,
    custom_domains: customDomainsOf(row),
    canonical_domain: row.canonical_domain,
    compression: row.compression === 1,
    watch_paths: row.watch_paths === null ? null : (JSON.parse(row.watch_paths) as string[]),
  }
}

/** A repository's URL with `***` in place of stored credentials. */
export function shownUrl(url: string, hasCredentials: boolean): string {
  return hasCredentials ? url.replace('://', '://***@') : url
}
