import { createReadStream } from 'node:fs'
import { useBucket } from '../backups/bucket.ts'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import type { Download } from '../http/file.ts'
import { hasServerBackupFile, serverBackupPath } from './files.ts'
import type { ServerBackupRow } from './store.ts'

/** The file of a server backup, or its copy in the bucket if the file is gone. Throws `conflict` when there is neither. */
export function serverBackupDownload(row: ServerBackupRow): Download {
  const { id, sha256, size_bytes: size, object_url: url } = row
  const bucket = useBucket()
  const isHere = hasServerBackupFile(id)
  if (sha256 === null || size === null || (!isHere && !(url && bucket?.holds(url))))
    throw new AppError('conflict', `the server backup ${id} is ${row.status}: it has no file`)
  return {
    size,
    name: serverBackupName(row),
    etag: `"${sha256}"`,
    modifiedAt: row.finished_at ?? row.created_at,
    async open(range) {
      if (!isHere) return (await bucket!.get(url!, useContext().stopping, range)).stream
      return createReadStream(serverBackupPath(id), range ? { start: range.start, end: range.end - 1 } : {})
    },
  }
}

/** The name of the file for people, which sorts by time. */
export function serverBackupName({ id, created_at, encrypted }: ServerBackupRow): string {
  const moment = new Date(created_at).toISOString().slice(0, 19).replaceAll(':', '')
  return `${moment}Z-${id}.tar.gz${encrypted === 1 ? '.age' : ''}`
}
