import { requestBackup } from '../backups/operations.ts'
import type { BackupRow } from '../backups/store.ts'
import { announcingAtEnd } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import type { ServiceRow } from '../services/store.ts'
import { disksOf } from './list.ts'
import { DISK } from './states.ts'

/**
 * Records a backup of a service's disk, or of each of them, which the daemon then makes. Returns that of the first. Throws
 * `not_found` for a disk that it does not have, or `conflict`.
 */
export function requestDiskBackup(
  service: ServiceRow,
  { disk, suspend }: { disk?: string; suspend: boolean },
): BackupRow {
  const names = disksOf(service).map(({ name }) => name)
  // Without any, the refusal says how to get one.
  if (names.length === 0) names.push(DISK)
  if (disk !== undefined && !names.includes(disk))
    throw new AppError('not_found', `service ${service.name} has no disk ${disk}: it has ${names.join(', ')}`)
  const wanted = disk === undefined ? names : [disk]
  const [first] = announcingAtEnd(() =>
    useDatabase().transaction(() =>
      wanted.map((name) => requestBackup({ id: service.id, disk: name }, suspend)),
    ),
  )
  return first!
}
