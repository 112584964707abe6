import { timestamp } from '../clock.ts'
import type { Deploy, DeploySource } from './schema.ts'
import type { DeployFacts } from './store.ts'
import { waitingOf } from './waiting.ts'

/** A deploy as the API returns it. */
export function viewDeploy(row: DeployFacts): Deploy {
  return {
    id: row.id,
    service_id: row.service_id,
    status: row.status,
    trigger: row.trigger,
    source: JSON.parse(row.source) as DeploySource,
    commit_sha: row.commit_sha,
    commit_message: row.commit_message,
    commit_author: row.commit_author,
    image: row.image,
    port: row.port,
    error: row.error,
    waiting: waitingOf(row),
    created_at: timestamp(row.created_at),
    started_at: timestamp(row.started_at),
    finished_at: timestamp(row.finished_at),
  }
}
