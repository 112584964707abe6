import { AsyncLocalStorage } from 'node:async_hooks'
import { isRestricted, type Access } from './access.ts'
import { Reach } from './reach.ts'

interface Caller {
  access: Access
  /** Null for a caller who reaches everything. */
  reach: Reach | null
  /** What parts of the server remember about this request. */
  notes: Map<string, unknown>
}

const callers = new AsyncLocalStorage<Caller>()

/**
 * Answers a request on behalf of a caller: whatever looks something up by an id or a name that the request gave finds only
 * what this caller may reach.
 */
export function asCaller<T>(access: Access, work: () => T): T {
  const reach = isRestricted(access) ? new Reach(access) : null
  return callers.run({ access, reach, notes: new Map() }, work)
}

/** What the caller of the current request may reach; null for everything, which includes work that no request asked for. */
export function callersReach(): Reach | null {
  return callers.getStore()?.reach ?? null
}

/** What the caller of the current request may do; undefined for work that no request asked for. */
export function callersAccess(): Access | undefined {
  return callers.getStore()?.access
}

/** What was remembered about the current request under a name. With `make`, that is remembered unless something is already. */
export function noted<T>(name: string, make?: () => T): T | undefined {
  const notes = callers.getStore()?.notes
  if (make && notes && !notes.has(name)) notes.set(name, make())
  return notes?.get(name) as T | undefined
}
