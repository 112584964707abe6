import { isId } from '../ids.ts'

/** The target that counts requests to the server's own pages. */
const DASHBOARD = 'dashboard'
/** The target that counts requests that were routed nowhere. */
const UNROUTED = 'unrouted'

/** Whether requests to this target are those of a service: not of the server's own pages, of no host, or of a redirect host. */
export function isService(target: string): boolean {
  return target !== DASHBOARD && target !== UNROUTED && !isId('redirectHost', target)
}

/** Sorts targets: services first, the busiest first; then the dashboard, then redirect hosts and unrouted requests. */
export function byTarget<T extends { target: string; requests_per_sec: number }>(left: T, right: T): number {
  return (
    placeOf(left.target) - placeOf(right.target) ||
    right.requests_per_sec - left.requests_per_sec ||
    (left.target < right.target ? -1 : 1)
  )
}

function placeOf(target: string): number {
  return isService(target) ? 0 : target === DASHBOARD ? 1 : 2
}
