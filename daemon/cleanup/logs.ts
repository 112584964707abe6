import { join } from 'node:path'
import { useContext, useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { namesIn, sizeOf } from '#server/disk-use/sizes.ts'
import { deleteEndedJob, jobsBeyond } from '#server/jobs/store.ts'
import { isOpen, logPath, removeLog } from '#server/logs/files.ts'
import { logger } from '#server/log.ts'
import { ownerName, serviceOfRun } from '../disk-use/names.ts'
import { KEPT_DEPLOYS, KEPT_JOBS } from './kept.ts'
import type { Surplus } from './surplus.ts'

const log = logger('cleanup')

/**
 * All but the newest deploys and jobs of each service, with their logs, except deploys whose image or folder is kept; and
 * logs whose deploy or job no longer exists.
 */
export async function surplusLogs(): Promise<Surplus[]> {
  const old = [
    ...deploysBeyond(KEPT_DEPLOYS).map((id) => surplusLog(id, () => deleteEndedDeploy(id))),
    ...jobsBeyond(KEPT_JOBS).map((id) => surplusLog(id, () => deleteEndedJob(id))),
  ]
  return [...old, ...(await strayLogs())]
}

/** A deploy or job with its log; `deleteRecord` returns whether it could be deleted. */
function surplusLog(id: string, deleteRecord: () => boolean): Surplus {
  const service = serviceOfRun(id)
  return {
    kind: 'logs',
    id,
    name: service === null ? id : ownerName(service),
    bytes: async () => (await sizeOf(logPath(id))).bytes,
    async remove() {
      if (!deleteRecord()) return false
      await removeLog(id)
      return true
    },
  }
}

async function strayLogs(): Promise<Surplus[]> {
  const known = new Set(
    useDatabase()
      .all<{ id: string }>('SELECT id FROM deploys UNION ALL SELECT id FROM jobs')
      .map(({ id }) => id),
  )
  // A record is always created before its log, so one that was created meanwhile is found by its id.
  const isStray = (id: string) => serviceOfRun(id) === null && !isOpen(id)
  const found: Surplus[] = []
  for await (const name of namesIn(join(useContext().options.dataDirectory, 'logs'))) {
    const id = /^((?:dep|job)-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1]
    if (id !== undefined && !known.has(id) && isStray(id)) found.push(surplusLog(id, () => isStray(id)))
  }
  return found
}

function deploysBeyond(kept: number): string[] {
  const full = useDatabase().all<{ service_id: string }>(
    'SELECT service_id FROM deploys GROUP BY service_id HAVING count(*) > ?',
    kept,
  )
  return full.flatMap(({ service_id }) =>
    useDatabase()
      .all<{ id: string }>(
        `SELECT id FROM deploys WHERE service_id = ? AND status NOT IN ('live', ${IN_PROGRESS_SQL})
           AND image_id IS NULL AND site_id IS NULL
         ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
        service_id,
        kept,
      )
      .map(({ id }) => id),
  )
}

function deleteEndedDeploy(id: string): boolean {
  const deleted = useDatabase().run(
    `DELETE FROM deploys WHERE id = ? AND status NOT IN ('live', ${IN_PROGRESS_SQL})
       AND image_id IS NULL AND site_id IS NULL`,
    id,
  )
  if (deleted > 0) log.debug('deleted an old deploy of a service with many newer ones', { id })
  return deleted > 0
}
