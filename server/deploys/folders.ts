import { join } from 'node:path'
import { useContext } from '../context.ts'

/** The largest source upload. */
export const UPLOAD_LIMIT_BYTES = 512 * 1024 * 1024

/** The path of the archive that was uploaded for a deploy. */
export function archivePath(deployId: string): string {
  return join(useContext().options.dataDirectory, 'archives', `${deployId}.tar.gz`)
}

/** The folder with the published folders of all static sites. */
export function sitesFolder(): string {
  return join(useContext().options.dataDirectory, 'sites')
}

/** The published folder of the site that a deploy made: `files/` is served, `rules.json` says how. */
export function siteFolder(id: string): string {
  return join(sitesFolder(), id)
}
