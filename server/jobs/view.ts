import { timestamp } from '../clock.ts'
import { nodeName } from '../nodes/store.ts'
import type { Job } from './schema.ts'
import type { JobFacts } from './store.ts'

/** A job as the API returns it. */
export function viewJob(row: JobFacts): Job {
  return {
    id: row.id,
    service_id: row.service_id,
    status: row.status,
    trigger: row.trigger,
    command: row.command,
    image: row.image,
    node: row.node_id,
    node_name: nodeName(row.node_id),
    exit_code: row.exit_code,
    error: row.error,
    created_at: timestamp(row.created_at),
    started_at: timestamp(row.started_at),
    finished_at: timestamp(row.finished_at),
  }
}
