import { AsyncLocalStorage } from 'node:async_hooks'
import { BoundedQueue } from './work/queue.ts'

/** A change in the change feed. */
export interface Change {
  kind:
    | 'service'
    | 'deploy'
    | 'datastore'
    | 'env_group'
    | 'job'
    | 'git_connection'
    | 'domain'
    | 'node'
    | 'server'
    | 'all'
  id: string
  service_id: string | null
  action: 'created' | 'updated' | 'deleted' | 'resync'
}

/** A client that is further behind must fetch everything again. */
const MAX_BEHIND = 1_024
const RESYNC: Change = { kind: 'all', id: '*', service_id: null, action: 'resync' }

type Listener = (change: Change) => void

const listeners = new Set<Listener>()
/** What listeners begin is the server's own work: it may reach more than the request that made the change. */
const outsideOfRequests = AsyncLocalStorage.snapshot()

/** Changes held back until a larger transaction has committed; null when there is none. */
let held: Change[] | null = null

/** Passes a committed change to every listener. A listener must not throw. */
export function announce(change: Change): void {
  if (held) held.push(change)
  else for (const listener of listeners) outsideOfRequests(listener, change)
}

/**
 * Runs several operations as one transaction. The changes that they announce reach the listeners once each, after everything
 * has committed, and never if it throws. The work must be synchronous.
 */
export function announcingAtEnd<T>(work: () => T): T {
  held = []
  let announced: Change[] = []
  try {
    const result = work()
    announced = held
    return result
  } finally {
    held = null
    const distinct = new Map(announced.map((change) => [JSON.stringify(change), change]))
    for (const change of distinct.values()) announce(change)
  }
}

/** Announces a change of a service. */
export function announceService(id: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'service', id, service_id: id, action })
}

/** Announces a change of a deploy. */
export function announceDeploy(id: string, serviceId: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'deploy', id, service_id: serviceId, action })
}

/** Announces a change of a datastore. */
export function announceDatastore(id: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'datastore', id, service_id: null, action })
}

/** Announces a change of an env group. */
export function announceEnvGroup(id: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'env_group', id, service_id: null, action })
}

/** Announces a change of a node. */
export function announceNode(id: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'node', id, service_id: null, action })
}

/** Announces a change of what the server keeps for itself: its settings and backups. `id` is the record's, or `server`. */
export function announceServer(id = 'server'): void {
  announce({ kind: 'server', id, service_id: null, action: 'updated' })
}

/** Announces that everything may have changed. */
export function announceEverything(): void {
  announce(RESYNC)
}

/** Calls `listener` for each change from now on. The returned function stops that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Every change from now on until `signal` aborts, in order and once. A consumer that is too slow gets a `resync`, which says
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
