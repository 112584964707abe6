import { join } from 'node:path'
import { useContext } from '../context.ts'

/** The largest source upload. */
export const UPLOAD_LIMIT_BYTES = 512 * 1024 * 1024

/** Where the archive that came with a deploy is kept. */
export function archivePath(deployId: string): string {
  return join(useContext().options.dataDirectory, 'archives', `${deployId}.tar.gz`)
}

/** Where the published folders of all static sites lie. */
export function sitesFolder(): string {
  return join(useContext().options.dataDirectory, 'sites')
}

/** The published folder of the site that a deploy made: `files/` is served, `rules.json` says how. */
export function siteFolder(id: string): string {
  return join(sitesFolder(), id)
}
