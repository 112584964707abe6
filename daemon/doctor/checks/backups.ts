import { listBackups, type BackupRow } from '#server/backups/store.ts'
import { timestamp } from '#server/clock.ts'
import { allDatastores, type DatastoreRow } from '#server/datastores/store.ts'
import { serverSettings, scheduledSince } from '#server/server-backups/settings.ts'
import { listServerBackups, type ServerBackupRow } from '#server/server-backups/store.ts'
import { overdueAt } from '../../server-backups/due.ts'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'

const FIX = 'Look at the backups on the dashboard.'

export const serverBackup: Check = {
  id: 'server_backup',
  title: 'Backup of the server',
  needs: 'records',
  fix: FIX,
  look({ options }) {
    return judgeServer(listServerBackups(), {
      schedule: serverSettings().backup_schedule,
      since: scheduledSince(),
      hasBucket: options.backupBucket !== null,
      now: Date.now(),
    })
  },
}

export const datastoreBackups: Check = {
  id: 'datastore_backups',
  title: 'Backups of datastores',
  needs: 'records',
  fix: FIX,
  look({ options }) {
    const rows = allDatastores().filter(({ status }) => status !== 'deleting')
    if (rows.length === 0) return skipped('there are no datastores')
    const hasBucket = options.backupBucket !== null
    return worstOf(
      rows.map((row) => judgeDatastore(row, listBackups(row.id), { hasBucket, now: Date.now() })),
    )
  },
}

/** What the backups of the server are judged by. Times are milliseconds. */
interface Wanted {
  schedule: string | null
  /** Since when there should be one; null when the schedule was not looked at yet. */
  since: number | null
  hasBucket: boolean
  now: number
}

/** Judges the backups of the server, which are the newest first. */
export function judgeServer(backups: readonly ServerBackupRow[], wanted: Wanted): Verdict {
  const ended = backups.find(({ status }) => status === 'succeeded' || status === 'failed')
  const newest = backups.find(({ status, damaged }) => status === 'succeeded' && damaged === 0)
  const now = 'Make one now on the page of the server (deployer backup).'
  if (ended?.status === 'failed')
    return failed(
      `the last backup of the server failed: ${ended.error ?? 'without a reason'}`,
      `Fix that. ${now}`,
    )
  if (wanted.schedule === null && !newest)
    return warning(
      'the server has no backup and no schedule',
      `Set a schedule on the page of the server. ${now}`,
    )
  const overdue = overdueAt(newest?.created_at ?? null, wanted.schedule, wanted.since)
  if (overdue !== null && overdue <= wanted.now)
    return warning(
      newest
        ? `the newest backup of the server is of ${timestamp(newest.created_at)}, and two were due since then`
        : 'the server has no backup, and two were due already',
      `${now} The log of the server says why none was made.`,
    )
  if (newest && wanted.hasBucket && newest.object_url === null && newest.error !== null)
    return warning(
      `the newest backup of the server is on this host alone: ${newest.error}`,
      'Fix that; the copy is made by itself then.',
    )
  return passed(
    newest
      ? `the newest is of ${timestamp(newest.created_at)}`
      : 'the server is new, and its first backup is not due yet',
  )
}

/** Judges the backups of one datastore, which are the newest first. */
export function judgeDatastore(
  { name, kind, backup_schedule: schedule, created_at }: DatastoreRow,
  backups: readonly BackupRow[],
  { hasBucket, now }: { hasBucket: boolean; now: number },
): Verdict {
  const ended = backups.find(({ status }) => status !== 'running')
  const newest = backups.find(({ status }) => status === 'succeeded')
  if (ended?.status === 'failed')
    return failed(
      `the last backup of ${name} failed: ${ended.error ?? 'without a reason'}`,
      'Fix that, and make a backup now on the page of the datastore (deployer db backup).',
    )
  if (schedule === null && !newest)
    return kind === 'relational'
      ? warning(
          `${name} has no backup and no schedule`,
          'Set a schedule on the page of the datastore, under Backups.',
        )
      : passed(`${name} has no schedule`)
  const overdue = overdueAt(newest?.created_at ?? null, schedule, created_at)
  if (overdue !== null && overdue <= now)
    return warning(
      newest
        ? `the newest backup of ${name} is of ${timestamp(newest.created_at)}, and two were due since then`
        : `${name} has no backup, and two were due already`,
      'Make a backup now on the page of the datastore (deployer db backup), and see in the log of the server why none was made.',
    )
  if (newest && hasBucket && newest.object_url === null && newest.error !== null)
    return warning(
      `the newest backup of ${name} is on this host alone: ${newest.error}`,
      'Fix that; the copy is made by itself then.',
    )
  return passed(newest ? `${name} is backed up` : `${name} is new, and its first backup is not due yet`)
}
