import { join } from 'node:path'
import { useContext } from './context.ts'

/** The folder with the published folders of all static sites. */
export function sitesFolder(): string {
  return join(useContext().options.dataDirectory, 'sites')
}

/** The published folder of the site that a deploy made: `files/` is served, `rules.json` says how. */
export function siteFolder(id: string): string {
  return join(sitesFolder(), id)
}
