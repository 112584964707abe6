import { BoundedQueue } from './work/queue.ts'

/** What the change feed tells. */
export interface Change {
  kind: 'service' | 'deploy' | 'datastore' | 'env_group' | 'job' | 'git_connection' | 'domain' | 'all'
  id: string
  service_id: string | null
  action: 'created' | 'updated' | 'deleted' | 'resync'
}

/** A client further behind must fetch everything again. */
const MAX_BEHIND = 1_024
const RESYNC: Change = { kind: 'all', id: '*', service_id: null, action: 'resync' }

type Listener = (change: Change) => void

const listeners = new Set<Listener>()

/** What waits until a larger transaction than its own has committed; null when there is none. */
let held: Change[] | null = null

/** Tells a change that is already committed to every listener. A listener must not throw. */
export function tell(change: Change): void {
  if (held) held.push(change)
  else for (const listener of listeners) listener(change)
}

/**
 * Runs work that puts several operations into one transaction: what they tell is told, each once, when all of it has
 * committed, and never when it throws. The work must be synchronous.
 */
export function tellingAtEnd<T>(work: () => T): T {
  held = []
  let told: Change[] = []
  try {
    const result = work()
    told = held
    return result
  } finally {
    held = null
    const distinct = new Map(told.map((change) => [JSON.stringify(change), change]))
    for (const change of distinct.values()) tell(change)
  }
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

/** Tells that everything may have changed. */
export function tellEverything(): void {
  tell(RESYNC)
}

/** Calls `listener` for each change from now on; the returned function ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Every change from now on until `signal` aborts, in order and once. Who takes them more slowly than they come is told
 * that everything may have changed.
 */
export function followChanges(signal: AbortSignal): AsyncIterable<Change> {
  const queue = new BoundedQueue<Change>(MAX_BEHIND, signal)
  signal.addEventListener(
    'abort',
    onChange((change) => queue.push(change)),
    { once: true },
  )
  return withResync(queue)
}

async function* withResync(queue: BoundedQueue<Change>): AsyncGenerator<Change> {
  for await (const change of queue) {
    if (queue.takeDropped() > 0) {
      queue.clear()
      yield RESYNC
    } else yield change
  }
}
