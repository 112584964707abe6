/** Where requests to the server's own pages are counted. */
const DASHBOARD = 'dashboard'
/** Where requests are counted that reached no target. */
const UNROUTED = 'unrouted'

/** Whether requests to this target are a service's. */
export function isService(target: string): boolean {
  return target !== DASHBOARD && target !== UNROUTED
}

/** Sorts targets: services first and the busiest of them first, then the dashboard, then what was not routed. */
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
