import { timestamp } from '../clock.ts'
import { keptDisksOf, type SpareVolume } from '../backups/spare-volumes.ts'
import { useDatabase } from '../context.ts'
import { disksOf } from '../disks/list.ts'
import { diskRestoresOf, type DiskRestoreRow } from '../disks/restores-store.ts'
import { viewDiskRestore, viewKeptDisks } from '../disks/view.ts'
import { latestDeploys, listDeploys, type DeployFacts } from '../deploys/store.ts'
import { viewDeploy } from '../deploys/view.ts'
import { viewEdge } from '../edge/columns.ts'
import { groupNamesByService } from '../env-groups/store.ts'
import type { Environment } from '../environments/store.ts'
import type { InstanceStatus } from '../instances/states.ts'
import { liveStatuses } from '../instances/store.ts'
import { lastRuns, runningJobs, type JobFacts } from '../jobs/store.ts'
import { viewJob } from '../jobs/view.ts'
import { movesOf, type MoveRow } from '../moves/store.ts'
import { viewMove } from '../moves/view.ts'
import { viewPlacement } from '../nodes/placement-setting.ts'
import { nodeName } from '../nodes/store.ts'
import { publicUrl } from '../network/public-address.ts'
import { getRegistryCredential } from '../registry-credentials/store.ts'
import { servedDomains } from '../domains/store.ts'
import { customDomainsOf, hostsOf } from './hosts.ts'
import { internalPort } from './ports.ts'
import type { Service } from './schema.ts'
import { liveDeploys, NOT_LIVE, stateOf, type Live } from './state.ts'
import { aptPackagesOf, listServices, type ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

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
  /** The last move of each. */
  moves: Map<string, MoveRow>
  /** The last restore of each disk. */
  diskRestores: Map<string, DiskRestoreRow>
  /** The replaced volumes of disks. */
  keptDisks: Map<string, SpareVolume[]>
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

function readSurroundings(environment: Environment, only?: string): Surroundings {
  return {
    environment,
    domains: servedDomains(),
    latest: only === undefined ? latestDeploys(environment.id) : latestDeployOf(only),
    instances: liveStatuses(environment.id),
    jobs: runningJobs(environment.id),
    lastRuns: lastRuns(environment.id, only),
    live: liveDeploys(environment.id, only),
    groups: groupNamesByService(environment.id, only),
    moves: movesOf(environment.id),
    diskRestores: diskRestoresOf(environment.id),
    keptDisks: keptDisksOf(environment.id),
  }
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
    node_name: nodeName(nodeOf(row)),
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
    move: viewMove(surroundings.moves.get(row.id)),
    disk_restore: viewDiskRestore(surroundings.diskRestores.get(row.id)),
    disk_kept_volumes: viewKeptDisks(surroundings.keptDisks.get(row.id) ?? []),
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
    registry_credential: credentialName(row),
    build_command: row.build_command,
    start_command: row.start_command,
    publish_dir: row.publish_dir,
    pre_deploy_command: row.pre_deploy_command,
    health_check_path: row.health_check_path,
    port: row.port,
    schedule: row.schedule,
    disks: disksOf(row),
    disk_mount_path: row.disk_mount_path,
    disk_backup_schedule: row.disk_backup_schedule,
    disk_backup_retention: row.disk_backup_retention,
    instances: row.instances,
    memory_limit_mb: row.memory_limit_mb,
    cpu_limit: row.cpu_limit,
    apt_packages: aptPackagesOf(row),
    auto_deploy: row.auto_deploy === 1,
    suspended: row.suspended === 1,
    custom_domains: customDomainsOf(row),
    canonical_domain: row.canonical_domain,
    compression: row.compression === 1,
    ...viewEdge(row),
    max_shutdown_delay_seconds: row.max_shutdown_delay_seconds,
    drain_seconds: row.drain_seconds,
    overlap_policy: row.overlap_policy,
    placement: viewPlacement(row),
    node: nodeOf(row),
    watch_paths: row.watch_paths === null ? null : (JSON.parse(row.watch_paths) as string[]),
  }
}

/** The node of a service's disks. That of one that has none any more is kept, since its former disks are there. */
function nodeOf(row: ServiceRow): string | null {
  return disksOf(row).length === 0 ? null : row.node_id
}

function credentialName({ registry_credential_id: id }: ServiceRow): string | null {
  return id === null ? null : (getRegistryCredential(id)?.name ?? null)
}

/** A repository's URL with `***` in place of stored credentials. */
export function shownUrl(url: string, hasCredentials: boolean): string {
  return hasCredentials ? url.replace('://', '://***@') : url
}
