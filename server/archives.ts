import { join } from 'node:path'
import { useContext } from './context.ts'

/** The largest source upload. */
export const UPLOAD_LIMIT_BYTES = 512 * 1024 * 1024

/** The path of the archive that was uploaded for a deploy. */
export function archivePath(deployId: string): string {
  return join(useContext().options.dataDirectory, 'archives', `${deployId}.tar.gz`)
}
