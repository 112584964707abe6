import assets, { type Asset } from '#dashboard-assets'

/** Paths that programs use. A missing one gets an error, not the dashboard's page. */
const NOT_PAGES = /^\/+(api|mcp|hooks|assets|metrics|healthz)(\/|$)/i

/** The file of the dashboard at a path. Compressed copies cannot be asked for by their own path. */
export function assetAt(path: string): Asset | undefined {
  const asset = Object.hasOwn(assets, path) ? assets[path] : undefined
  return asset?.encoding ? undefined : asset
}

/** Whether a path belongs to the dashboard: a file of it, or its page, which reads the path itself. */
export function isDashboardPath(path: string): boolean {
  return !NOT_PAGES.test(path) || assetAt(path) !== undefined
}
