import type { RouteLocationNormalized } from 'vue-router'

/** Where to go after sign-in: always a path of the dashboard itself. */
export function returnPath(route: RouteLocationNormalized): string {
  const wanted = route.query['return']
  return typeof wanted === 'string' && /^\/(?![/\\])/.test(wanted) ? wanted : '/overview'
}

/** The query of the sign-in page that says where to go afterwards. */
export function returnQuery(path: string): { return?: string } {
  return path === '/' || path === '/overview' ? {} : { return: path }
}
