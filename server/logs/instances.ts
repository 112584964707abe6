import { useDatabase } from '../context.ts'

/** Remembers the service and deploy of an instance, for the time when it is gone and its lines are still kept. */
export function recordLogInstance(id: string): void {
  useDatabase().run(
    `INSERT INTO log_instances (id, service_id, deploy_id, created_at)
     SELECT id, service_id, deploy_id, created_at FROM instances WHERE id = ? ON CONFLICT DO NOTHING`,
    id,
  )
}

/** The deploys of a service's instances, including those that are gone, newest first. */
export function instanceDeploys(serviceId: string): Map<string, string> {
  const rows = useDatabase().all<{ id: string; deploy_id: string }>(
    'SELECT id, deploy_id FROM log_instances WHERE service_id = ? ORDER BY created_at DESC, id',
    serviceId,
  )
  return new Map(rows.map(({ id, deploy_id }) => [id, deploy_id]))
}

/** The deploy of an instance, which may be gone; undefined when it is not known. */
export function deployOfInstance(id: string): string | undefined {
  return useDatabase().get<{ deploy_id: string }>('SELECT deploy_id FROM log_instances WHERE id = ?', id)
    ?.deploy_id
}

/** Forgets instances that have been gone for so long that their lines are gone too. */
export function tidyLogInstances(retentionMs: number): void {
  const now = Date.now()
  useDatabase().run(
    'UPDATE log_instances SET gone_at = ? WHERE gone_at IS NULL AND id NOT IN (SELECT id FROM instances)',
    now,
  )
  useDatabase().run('DELETE FROM log_instances WHERE gone_at < ?', now - retentionMs)
}
