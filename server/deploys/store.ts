import { useContext, useDatabase } from '../context.ts'
import type { Database, Value } from '../database/index.ts'
import type { Disk } from '../disks/list.ts'
import { DISK } from '../disks/states.ts'
import type { GivenFile } from '../secret-files/rules.ts'
import { currentActorText } from '../service-events/store.ts'
import type { DeploySource, DeployTrigger } from './schema.ts'
import { IN_PROGRESS_SQL, type DeployStatus } from './states.ts'

/** A row of `deploys`. Times are milliseconds. */
export interface DeployRow {
  id: string
  /** The order of creation across the whole server. */
  sequence: number
  service_id: string
  status: DeployStatus
  trigger: DeployTrigger
  /** JSON of DeploySource. */
  source: string
  repo_credentials: Uint8Array | null
  /** The deploy whose uploaded archive this one builds. */
  archive_id: string | null
  clear_cache: number
  /** Whether its commit must be one that the service's branch contains, since its caller may only deploy. */
  is_confined: number
  rollback_of: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  image: string | null
  /** The engine's id of the image that runs. */
  image_id: string | null
  /** By which it can be pulled again, `name@sha256:…`; null for one that was built, or made before this was recorded. */
  image_digest: string | null
  port: number | null
  /** The deploy whose published folder a static site serves; null when there is none, or it is no longer kept. */
  site_id: string | null
  snapshot: Uint8Array | null
  /** JSON of Setup (`setup.ts`); null for a deploy that was made before this was recorded. */
  setup: string | null
  /** Sealed JSON of SetupSecrets, as long as its image or its published folder is kept. */
  setup_secrets: Uint8Array | null
  /** The snapshot's `health_check_path`, also stored unencrypted for the probes. */
  health_check_path: string | null
  /** Whether the pre-deploy command has succeeded. */
  pre_deployed: number
  was_live: number
  /** Whether its rollout stopped the old instance before it started its own. */
  stops_first: number
  error: string | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  /** When another deploy replaced it as the live one. */
  replaced_at: number | null
  /** The number of crashes of the server in a row during which it was in progress. */
  crashes: number
  /** JSON of who asked for it; null for the server itself, and for deploys made before this was recorded. */
  created_by: string | null
  /** JSON of its steps (`DeployStep[]`), written when it ends; null for one that never ran, or ended before there were any. */
  steps: string | null
}

/** How a source's files say that it runs; null where they say nothing. */
export interface PlannedRun {
  port: number | null
  health_check_path: string | null
  pre_deploy_command: string | null
  /** Set if the image's own command is not what the source asks for; missing in records of earlier versions. */
  start_command?: string | null
}

/** For an image that was built elsewhere. */
export const UNPLANNED: PlannedRun = { port: null, health_check_path: null, pre_deploy_command: null }

/** What a deploy runs with, fixed when it starts. A service's containers are all created from its live deploy's snapshot. */
export interface Snapshot {
  /** The engine's id of the image. */
  image_id: string
  /** Run with `/bin/sh -c` instead of the image's own command; null for the image's own. */
  start_command: string | null
  /** The user's variables and PORT; each container also gets the server's DEPLOYER_* variables. */
  env: Record<string, string>
  secret_files: GivenFile[]
  port: number | null
  /** What its source alone says; the settings take precedence. */
  planned: PlannedRun
  /** Whether somebody chose the port. If not, the only port on which the program listens replaces it. */
  is_port_chosen: boolean
  health_check_path: string | null
  /** Runs once in the new image before any instance. */
  pre_deploy_command: string | null
  disks: Disk[]
  /** In MiB, as configured; 0 is the server default, as for `cpu_limit`. */
  memory_limit_mb: number
  cpu_limit: number
}

type NewDeploy = Pick<DeployRow, 'id' | 'service_id' | 'trigger'> &
  Partial<
    Pick<
      DeployRow,
      | 'repo_credentials'
      | 'archive_id'
      | 'clear_cache'
      | 'is_confined'
      | 'rollback_of'
      | 'commit_sha'
      | 'commit_message'
      | 'commit_author'
      | 'image'
      | 'image_id'
      | 'image_digest'
      | 'port'
      | 'site_id'
      | 'snapshot'
      | 'setup'
      | 'setup_secrets'
    >
  > & {
    source: DeploySource
  }

/** Inserts a deploy as `queued`. */
export function insertDeploy({ source, ...deploy }: NewDeploy): void {
  const row: Record<string, Value> = {
    ...deploy,
    source: JSON.stringify(source),
    status: 'queued',
    created_at: Date.now(),
    created_by: currentActorText(),
  }
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO deploys (sequence, ${columns.join(', ')})
     VALUES ((SELECT coalesce(max(sequence), 0) + 1 FROM deploys), ${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  )
}

export function getDeploy(id: string): DeployRow | undefined {
  return useDatabase().get<DeployRow>('SELECT * FROM deploys WHERE id = ?', id)
}

/** The newest deploys of a service, newest first. */
export function listDeploys(serviceId: string, limit: number): DeployFacts[] {
  return useDatabase().all<DeployFacts>(
    `SELECT ${FACT_COLUMNS} FROM deploys WHERE service_id = ? ORDER BY sequence DESC LIMIT ?`,
    serviceId,
    limit,
  )
}

/** What views and routes need of a deploy: everything but its secrets, which may be large. */
export type DeployFacts = Omit<
  DeployRow,
  'snapshot' | 'setup' | 'setup_secrets' | 'repo_credentials' | 'crashes' | 'created_by' | 'steps'
>

const FACTS = [
  'id',
  'sequence',
  'service_id',
  'status',
  'trigger',
  'source',
  'archive_id',
  'clear_cache',
  'is_confined',
  'rollback_of',
  'commit_sha',
  'commit_message',
  'commit_author',
  'image',
  'image_id',
  'image_digest',
  'port',
  'site_id',
  'health_check_path',
  'pre_deployed',
  'was_live',
  'stops_first',
  'error',
  'created_at',
  'started_at',
  'finished_at',
  'replaced_at',
] as const satisfies readonly (keyof DeployFacts)[]
const FACT_COLUMNS = FACTS.map((column) => `deploys.${column}`).join(', ')

/** The last deploy before this one that went live and has steps, of the same kind: one that was built, or one that was not. */
export function comparableDeploy({
  service_id,
  sequence,
  trigger,
}: DeployRow): Pick<DeployRow, 'id' | 'steps' | 'started_at' | 'finished_at'> | undefined {
  return useDatabase().get(
    `SELECT id, steps, started_at, finished_at FROM deploys
     WHERE service_id = ? AND sequence < ? AND was_live = 1 AND steps IS NOT NULL
       AND (trigger IN ('restart', 'rollback')) = (? IN ('restart', 'rollback'))
     ORDER BY sequence DESC LIMIT 1`,
    service_id,
    sequence,
    trigger,
  )
}

/** The deploy that was live before another one was created; undefined if that is the first one. */
export function formerLive({ service_id, sequence }: DeployFacts): DeployRow | undefined {
  return useDatabase().get<DeployRow>(
    'SELECT * FROM deploys WHERE service_id = ? AND sequence < ? AND was_live = 1 ORDER BY sequence DESC LIMIT 1',
    service_id,
    sequence,
  )
}

/** The newest deploy of each service of an environment, by service id. */
export function latestDeploys(environmentId: string): Map<string, DeployFacts> {
  const rows = useDatabase().all<DeployFacts>(
    `SELECT ${FACT_COLUMNS} FROM services JOIN deploys ON deploys.sequence =
       (SELECT max(sequence) FROM deploys WHERE service_id = services.id)
     WHERE services.environment_id = ?`,
    environmentId,
  )
  return new Map(rows.map((row) => [row.service_id, row]))
}

/** The name of a service's build caches. It changes with each deploy that clears the cache. */
export function cacheScope(serviceId: string): string {
  const cleared = useDatabase().get<{ id: string }>(
    'SELECT id FROM deploys WHERE service_id = ? AND clear_cache = 1 ORDER BY sequence DESC LIMIT 1',
    serviceId,
  )
  return cleared === undefined ? serviceId : `${serviceId}-${cleared.id}`
}

/** Deploys that are running or queued, oldest first; of one service or of all. */
export function deploysInProgress(serviceId?: string): DeployRow[] {
  const scope = serviceId === undefined ? '' : 'AND service_id = ?'
  return useDatabase().all<DeployRow>(
    `SELECT * FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) ${scope} ORDER BY sequence`,
    ...(serviceId === undefined ? [] : [serviceId]),
  )
}

/** The ids of services whose live deploy is a published folder: the data plane serves it, and no container runs. */
export function servicesServedAsSites(): Set<string> {
  const rows = useDatabase().all<{ id: string }>(
    `SELECT services.id FROM services JOIN deploys ON deploys.id = services.live_deploy_id
     WHERE deploys.site_id IS NOT NULL`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** The ids of services whose old instance was stopped for a rollout that is still in progress. */
export function servicesStoppedFirst(): Set<string> {
  const rows = useDatabase().all<{ service_id: string }>(
    `SELECT service_id FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) AND stops_first = 1`,
  )
  return new Set(rows.map(({ service_id }) => service_id))
}

/** The archive that a new deploy builds: the newest that is or was live or is in progress, or else the newest of all. */
export function newestArchive(serviceId: string): string | null {
  const row = useDatabase().get<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL
     ORDER BY (was_live OR status IN (${IN_PROGRESS_SQL})) DESC, sequence DESC LIMIT 1`,
    serviceId,
  )
  return row?.archive_id ?? null
}

/** The archives of a service that may be built again: the newest, and the last that was live. */
export function keptArchives(serviceId: string): Set<string> {
  const live = useDatabase().get<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL AND was_live = 1
     ORDER BY sequence DESC LIMIT 1`,
    serviceId,
  )
  return new Set([newestArchive(serviceId), live?.archive_id].filter((id) => typeof id === 'string'))
}

/** Sets any columns but the status. */
export function updateDeploy(id: string, columns: Partial<Omit<DeployRow, 'id' | 'status'>>): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE deploys SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Encrypts a snapshot to be stored with a deploy, since it contains resolved variables and secret files. */
export function sealSnapshot(snapshot: Snapshot): Uint8Array {
  return useContext().vault.seal(JSON.stringify(snapshot))
}

/** Decrypts the snapshot of a deploy; null if it has none. */
export function openSnapshot(deploy: DeployRow): Snapshot | null {
  return deploy.snapshot === null ? null : unsealSnapshot(deploy.snapshot)
}

/** Decrypts a snapshot that a deploy or a job was stored with. */
export function unsealSnapshot(sealed: Uint8Array): Snapshot {
  const { disk_mount_path, ...snapshot } = JSON.parse(useContext().vault.open(sealed)) as Snapshot & {
    disk_mount_path?: string | null
  }
  // Snapshots from earlier versions lack some of these fields, and had at most one disk.
  return {
    ...snapshot,
    disks: snapshot.disks ?? (disk_mount_path ? [{ name: DISK, mount_path: disk_mount_path }] : []),
    is_port_chosen: snapshot.is_port_chosen ?? true,
    planned: snapshot.planned ?? UNPLANNED,
    pre_deploy_command: snapshot.pre_deploy_command ?? null,
    secret_files: snapshot.secret_files ?? [],
  }
}

/** Forgets the secrets of setups whose image or published folder is no longer kept. */
export function releaseSetupSecrets(): void {
  useDatabase().run(
    `UPDATE deploys SET setup_secrets = NULL
     WHERE setup_secrets IS NOT NULL AND image_id IS NULL AND site_id IS NULL
       AND status NOT IN ('live', ${IN_PROGRESS_SQL})`,
  )
}

/** How many deploys are being built or started; in a database that this process may have opened next to the server. */
export function countDeploysUnderWay(database: Database): number {
  return database.get<{ count: number }>(
    "SELECT count(*) AS count FROM deploys WHERE status IN ('building', 'deploying')",
  )!.count
}
