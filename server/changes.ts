/** What the change feed tells. */
export interface Change {
  kind: 'service' | 'deploy' | 'datastore' | 'env_group' | 'job' | 'git_connection' | 'domain' | 'all'
  id: string
  service_id: string | null
  action: 'created' | 'updated' | 'deleted' | 'resync'
}

type Listener = (change: Change) => void

const listeners = new Set<Listener>()

/** Tells a change that is already committed to every listener. A listener must not throw. */
export function tell(change: Change): void {
  for (const listener of listeners) listener(change)
}

/** Tells a change of a service. */
export function tellService(id: string, action: Change['action'] = 'updated'): void {
  tell({ kind: 'service', id, service_id: id, action })
}

/** Tells a change of a deploy. */
export function tellDeploy(id: string, serviceId: string, action: Change['action'] = 'updated'): void {
  tell({ kind: 'deploy', id, service_id: serviceId, action })
}

/** Tells a change of a datastore. */
export function tellDatastore(id: string, action: Change['action'] = 'updated'): void {
  tell({ kind: 'datastore', id, service_id: null, action })
}

/** Calls `listener` for each change from now on; the returned function ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
