import { useContext, useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { DeploySource, DeployTrigger } from './schema.ts'
import { IN_PROGRESS_SQL, type DeployStatus } from './states.ts'

/** A row of `deploys`. Times are milliseconds. */
export interface DeployRow {
  id: string
  /** Order of creation over the whole server. */
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
  rollback_of: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  image: string | null
  /** The engine's id of the image that runs. */
  image_id: string | null
  port: number | null
  /** The deploy whose published folder a static site serves; null when there is none, or none any more. */
  site_id: string | null
  snapshot: Uint8Array | null
  /** Of the snapshot, kept open beside it for the probes. */
  health_check_path: string | null
  /** The pre-deploy command has ended well. */
  pre_deployed: number
  was_live: number
  /** Its rollout stopped the old instance before it started its own. */
  stops_first: number
  error: string | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  /** When another deploy became live in its place. */
  replaced_at: number | null
  /** At how many crashes of the server in a row it was under way. */
  crashes: number
}

/** What the files of a source say about how it runs; null where they say nothing. */
export interface PlannedRun {
  port: number | null
  health_check_path: string | null
  pre_deploy_command: string | null
  /** Where the image does not start by itself what the source says; missing in records of former versions. */
  start_command?: string | null
}

/** Of an image that was made elsewhere. */
export const UNPLANNED: PlannedRun = { port: null, health_check_path: null, pre_deploy_command: null }

/** What a deploy runs with, fixed when it starts; every container of the service is made from the live one's. */
export interface Snapshot {
  /** The engine's id of the image. */
  image_id: string
  /** Replaces the image's own command by `/bin/sh -c`; null leaves it. */
  start_command: string | null
  /** The user's variables with PORT; the server's own DEPLOYER_* come with each container. */
  env: Record<string, string>
  port: number | null
  /** What was planned for it by its source alone; the settings win. */
  planned: PlannedRun
  /** Whether somebody said the port. One that nobody did gives way to the only one that the program is found on. */
  is_port_chosen: boolean
  health_check_path: string | null
  /** Runs once in the new image before any instance. */
  pre_deploy_command: string | null
  /** Where the service's disk is mounted; null without one. */
  disk_mount_path: string | null
  /** MiB and CPUs as asked; 0 is the server default. */
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
      | 'rollback_of'
      | 'commit_sha'
      | 'commit_message'
      | 'commit_author'
      | 'image'
      | 'image_id'
      | 'port'
      | 'site_id'
      | 'snapshot'
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

/** What views and routes need of a deploy: not its secrets, which may be large. */
export type DeployFacts = Omit<DeployRow, 'snapshot' | 'repo_credentials' | 'crashes'>

const FACTS = [
  'id',
  'sequence',
  'service_id',
  'status',
  'trigger',
  'source',
  'archive_id',
  'clear_cache',
  'rollback_of',
  'commit_sha',
  'commit_message',
  'commit_author',
  'image',
  'image_id',
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

/** Names the build caches of a service: they are another's once a deploy was to build without them. */
export function cacheScope(serviceId: string): string {
  const cleared = useDatabase().get<{ id: string }>(
    'SELECT id FROM deploys WHERE service_id = ? AND clear_cache = 1 ORDER BY sequence DESC LIMIT 1',
    serviceId,
  )
  return cleared === undefined ? serviceId : `${serviceId}-${cleared.id}`
}

/** Deploys under way or waiting, oldest first; of one service or of all. */
export function deploysInProgress(serviceId?: string): DeployRow[] {
  const scope = serviceId === undefined ? '' : 'AND service_id = ?'
  return useDatabase().all<DeployRow>(
    `SELECT * FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) ${scope} ORDER BY sequence`,
    ...(serviceId === undefined ? [] : [serviceId]),
  )
}

/** The services whose live deploy is a published folder: the data plane serves it, and no container runs. */
export function servicesServedAsSites(): Set<string> {
  const rows = useDatabase().all<{ id: string }>(
    `SELECT services.id FROM services JOIN deploys ON deploys.id = services.live_deploy_id
     WHERE deploys.site_id IS NOT NULL`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Of each service whose old instance was stopped for a rollout that is still under way: its id. */
export function servicesStoppedFirst(): Set<string> {
  const rows = useDatabase().all<{ service_id: string }>(
    `SELECT service_id FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) AND stops_first = 1`,
  )
  return new Set(rows.map(({ service_id }) => service_id))
}

/** The newest deploy of an upload service whose archive counts: the newest live or once live, else the newest of all. */
export function newestArchive(serviceId: string): string | null {
  const row = useDatabase().get<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL
     ORDER BY (was_live OR status IN (${IN_PROGRESS_SQL})) DESC, sequence DESC LIMIT 1`,
    serviceId,
  )
  return row?.archive_id ?? null
}

/** The archives of a service that may be built again: its newest, and the last that was live until a newer one is. */
export function keptArchives(serviceId: string): Set<string> {
  const live = useDatabase().get<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL AND was_live = 1
     ORDER BY sequence DESC LIMIT 1`,
    serviceId,
  )
  return new Set([newestArchive(serviceId), live?.archive_id].filter((id) => typeof id === 'string'))
}

/** Sets columns that are no status. */
export function updateDeploy(id: string, columns: Partial<Omit<DeployRow, 'id' | 'status'>>): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE deploys SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Keeps a snapshot with a deploy; it holds resolved variables, so it is sealed. */
export function sealSnapshot(snapshot: Snapshot): Uint8Array {
  return useContext().vault.seal(JSON.stringify(snapshot))
}

/** The snapshot of a deploy that has one. */
export function openSnapshot(deploy: DeployRow): Snapshot | null {
  if (deploy.snapshot === null) return null
  const snapshot = JSON.parse(useContext().vault.open(deploy.snapshot)) as Snapshot
  // One from before there were disks, ports that are found, or plans that say more than a build, says nothing of them.
  return {
    ...snapshot,
    disk_mount_path: snapshot.disk_mount_path ?? null,
    is_port_chosen: snapshot.is_port_chosen ?? true,
    planned: snapshot.planned ?? UNPLANNED,
    pre_deploy_command: snapshot.pre_deploy_command ?? null,
  }
}
