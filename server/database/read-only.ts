import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/**
 * The address under which SQLite reads a database file and leaves no other file: one that has no log of writes is used by
 * nobody (sqlite.org/uri.html, "immutable").
 */
export function readOnlyUrl(path: string): URL {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.search = '?immutable=1'
  return url
}
