import { useContext, useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import { unsealSnapshot, type Snapshot } from '../deploys/store.ts'
import type { JobTrigger } from './schema.ts'
import { JOB_IN_PROGRESS_SQL, type JobStatus } from './states.ts'

/** A row of `jobs`. Times are milliseconds. */
export interface JobRow {
  id: string
  /** The order of creation, over the whole server. */
  sequence: number
  service_id: string
  status: JobStatus
  trigger: JobTrigger
  /** Null runs the image's own command. */
  command: string | null
  /** 1 for the cron job's own command, which runs once at a time; 0 for a command from the request. */
  own_command: number
  /** The deploy whose image the job runs. */
  deploy_id: string
  image: string | null
  /**
   * What it runs with, sealed; null for a job that ended, and for one with the service's own command that has not started.
   */
  snapshot: Uint8Array | null
  /** Where it runs, or ran; null until it is placed. */
  node_id: string | null
  exit_code: number | null
  error: string | null
  created_at: number
  started_at: number | null
  finished_at: number | null
}

/** What views and the queue need of a job: everything except its secrets, which may be large. */
export type JobFacts = Omit<JobRow, 'snapshot'>

const FACTS = [
  'id',
  'sequence',
  'service_id',
  'status',
  'trigger',
  'command',
  'own_command',
  'deploy_id',
  'image',
  'node_id',
  'exit_code',
  'error',
  'created_at',
  'started_at',
  'finished_at',
] as const satisfies readonly (keyof JobFacts)[]
const FACT_COLUMNS = FACTS.map((fact) => `jobs.${fact}`).join(', ')

type NewJob = Pick<
  JobRow,
  'id' | 'service_id' | 'trigger' | 'command' | 'own_command' | 'deploy_id' | 'image' | 'snapshot'
>

/** Inserts a job as `pending`. */
export function insertJob(job: NewJob): void {
  const row: Record<string, Value> = { ...job, status: 'pending', created_at: Date.now() }
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO jobs (sequence, ${columns.join(', ')})
     VALUES ((SELECT coalesce(max(sequence), 0) + 1 FROM jobs), ${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  )
}

export function getJob(id: string): JobRow | undefined {
  return useDatabase().get<JobRow>('SELECT * FROM jobs WHERE id = ?', id)
}

/** Records where a job runs instead. */
export function placeJob(id: string, nodeId: string): void {
  useDatabase().run('UPDATE jobs SET node_id = ? WHERE id = ?', nodeId, id)
}

/** The status of a job; undefined when the job no longer exists. */
export function jobStatus(id: string): JobStatus | undefined {
  return useDatabase().get<{ status: JobStatus }>('SELECT status FROM jobs WHERE id = ?', id)?.status
}

/** The newest jobs of a service, newest first. */
export function listJobs(serviceId: string, limit: number): JobFacts[] {
  return useDatabase().all<JobFacts>(
    `SELECT ${FACT_COLUMNS} FROM jobs WHERE service_id = ? ORDER BY sequence DESC LIMIT ?`,
    serviceId,
    limit,
  )
}

/** Jobs that wait or run, oldest first; those of one service, or all. */
export function jobsInProgress(serviceId?: string): JobFacts[] {
  const scope = serviceId === undefined ? '' : 'AND service_id = ?'
  return useDatabase().all<JobFacts>(
    `SELECT ${FACT_COLUMNS} FROM jobs WHERE status IN (${JOB_IN_PROGRESS_SQL}) ${scope} ORDER BY sequence`,
    ...(serviceId === undefined ? [] : [serviceId]),
  )
}

/** The oldest running jobs on a node, with the names of their services. */
export function runningOn(nodeId: string, limit: number): { id: string; service: string }[] {
  return useDatabase().all(
    `SELECT jobs.id, services.name AS service FROM jobs JOIN services ON services.id = jobs.service_id
     WHERE jobs.node_id = ? AND jobs.status = 'running' ORDER BY sequence LIMIT ?`,
    nodeId,
    limit,
  )
}

/** How many jobs of each service are running, by service id; a service without any is missing. */
export function runningJobs(environmentId: string): Map<string, number> {
  const rows = useDatabase().all<{ service_id: string; running: number }>(
    `SELECT jobs.service_id, count(*) AS running FROM jobs JOIN services ON services.id = jobs.service_id
     WHERE jobs.status = 'running' AND services.environment_id = ? GROUP BY jobs.service_id`,
    environmentId,
  )
  return new Map(rows.map(({ service_id, running }) => [service_id, running]))
}

/** The newest ended run of its own command for each cron job, of an environment or only one job, by service id. */
export function lastRuns(environmentId: string, only?: string): Map<string, JobFacts> {
  const rows = useDatabase().all<JobFacts>(
    `SELECT ${FACT_COLUMNS} FROM services JOIN jobs ON jobs.sequence =
       (SELECT max(sequence) FROM jobs
        WHERE service_id = services.id AND own_command = 1 AND status NOT IN (${JOB_IN_PROGRESS_SQL}))
     WHERE services.type = 'cron_job' AND services.${only === undefined ? 'environment_id' : 'id'} = ?`,
    only ?? environmentId,
  )
  return new Map(rows.map((row) => [row.service_id, row]))
}

/** Ended jobs beyond the newest `kept` of their service. */
export function jobsBeyond(kept: number): string[] {
  const database = useDatabase()
  const full = database.all<{ service_id: string }>(
    'SELECT service_id FROM jobs GROUP BY service_id HAVING count(*) > ?',
    kept,
  )
  return full.flatMap(({ service_id }) =>
    database
      .all<{ id: string }>(
        `SELECT id FROM jobs WHERE service_id = ? AND status NOT IN (${JOB_IN_PROGRESS_SQL})
         ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
        service_id,
        kept,
      )
      .map(({ id }) => id),
  )
}

/** Deletes a job that has ended; returns whether it did. */
export function deleteEndedJob(id: string): boolean {
  const ended = `DELETE FROM jobs WHERE id = ? AND status NOT IN (${JOB_IN_PROGRESS_SQL})`
  return useDatabase().run(ended, id) > 0
}

/** Stores a snapshot with a job. It holds resolved variables, so it is sealed. */
export function sealJobSnapshot(snapshot: Snapshot): Uint8Array {
  return useContext().vault.seal(JSON.stringify(snapshot))
}

/** The snapshot stored with a job. */
export function openJobSnapshot(job: JobRow): Snapshot | null {
  return job.snapshot === null ? null : unsealSnapshot(job.snapshot)
}
