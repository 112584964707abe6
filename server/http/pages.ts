import assets from '#dashboard-assets'

/** Paths below which programs ask: what is not there is not the dashboard either. */
const NOT_PAGES = /^\/+(api|hooks|assets|metrics|healthz)(\/|$)/i

/** Whether a path is one of the dashboard's: of its page, which finds out itself which, or a file of the page's. */
export function isDashboardPath(path: string): boolean {
  return !NOT_PAGES.test(path) || Object.hasOwn(assets, path)
}
