import type { RouteLocationNormalized } from 'vue-router'

/** Where to go after sign-in: only ever a path of the dashboard itself. */
export function returnPath(route: RouteLocationNormalized): string {
  const wanted = route.query['return']
  return typeof wanted === 'string' && /^\/(?![/\\])/.test(wanted) ? wanted : '/services'
}

/** How the address of the sign-in page names where to go after it. */
export function returnQuery(path: string): { return?: string } {
  return path === '/' || path === '/services' ? {} : { return: path }
}
