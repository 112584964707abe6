import { join } from 'node:path'
import { useContext } from '#server/context.ts'

/** The published folder of the site that a deploy made: `files/` is served, `rules.json` says how. */
export function siteFolder(id: string): string {
  return join(useContext().options.dataDirectory, 'sites', id)
}

/** Where the published folders of all sites lie. */
export function sitesFolder(): string {
  return join(useContext().options.dataDirectory, 'sites')
}
