import assets, { type Asset } from '#dashboard-assets'

/** Paths below which programs ask: what is not there is not the dashboard either. */
const NOT_PAGES = /^\/+(api|hooks|assets|metrics|healthz)(\/|$)/i

/** The file of the dashboard's page at a path; a compressed copy is none of its own. */
export function assetAt(path: string): Asset | undefined {
  const asset = Object.hasOwn(assets, path) ? assets[path] : undefined
  return asset?.encoding ? undefined : asset
}

/** Whether a path is one of the dashboard's: of its page, which finds out itself which, or a file of the page's. */
export function isDashboardPath(path: string): boolean {
  return !NOT_PAGES.test(path) || assetAt(path) !== undefined
}
