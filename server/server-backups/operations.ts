import { recordOwn } from '../audit/recording.ts'
import { insertSpareObject } from '../backups/store.ts'
import { announceServer } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { isId, newId } from '../ids.ts'
import { tryMove } from '../state-machine.ts'
import { removeServerBackupFiles } from './files.ts'
import type { ServerBackupInput } from './schema.ts'
import { noteServerBackupProgress } from './progress.ts'
import { serverSettings } from './settings.ts'
import { serverBackupMachine, type ServerBackupTrigger } from './states.ts'
import {
  deleteServerBackupRow,
  getServerBackup,
  insertServerBackup,
  serverBackupInProgress,
  surplusServerBackups,
  updateServerBackup,
  type ServerBackupRow,
} from './store.ts'

/** Of the backups that upgrades made, so that one can always go back. */
const KEPT_OF_UPGRADES = 2

/** The server backup with this id. Throws `not_found`. */
export function findServerBackup(id: string): ServerBackupRow {
  const found = isId('serverBackup', id) ? getServerBackup(id) : undefined
  if (!found) throw new AppError('not_found', `there is no server backup ${id}`)
  return found
}

/** Records a server backup that the daemon then makes. Throws `conflict` that names the one that is being made. */
export function requestServerBackup(
  { datastores = true, disks = false, logs = true }: ServerBackupInput,
  trigger: ServerBackupTrigger = 'manual',
): ServerBackupRow {
  assertUnfenced()
  const id = newId('serverBackup')
  useDatabase().transaction(() => {
    const running = serverBackupInProgress()
    if (running)
      throw new AppError('conflict', `the server backup ${running.id} is running: wait for it, or cancel it`)
    insertServerBackup({ id, trigger, datastores, disks, logs })
    recordOwnOf(id, 'created')
  })
  announceServer(id)
  return getServerBackup(id)!
}

/** Ends a backup that is being made; what there is of it is removed. Throws `conflict` when it has ended. */
export function cancelServerBackup({ id }: ServerBackupRow): ServerBackupRow {
  const row = findServerBackup(id)
  if (row.sha256 !== null && row.status === 'running')
    throw new AppError('conflict', `the server backup ${id} is complete, and is being copied to the bucket`)
  if (!tryMove(serverBackupMachine, id, 'canceled', { finished_at: Date.now() }))
    throw new AppError(
      'conflict',
      `the server backup ${id} is ${row.status}: only a running one can be canceled`,
    )
  announceServer(id)
  return findServerBackup(id)
}

/** Notes how much of the file is written. */
export function recordServerBackupProgress(id: string, percent: number): void {
  if (noteServerBackupProgress(id, percent)) announceServer(id)
}

/**
 * Records that the file is complete, and what the backup lacks. The backup has then succeeded, unless a copy is to follow.
 * Returns false when it was canceled in the meantime.
 */
export function recordServerBackupFile(
  id: string,
  file: { size_bytes: number; sha256: string; encrypted: boolean; error: string | null },
): boolean {
  const isKept = useDatabase().transaction(() => {
    if (getServerBackup(id)?.status !== 'running') return false
    updateServerBackup(id, { ...file, encrypted: Number(file.encrypted), progress_percent: 100 })
    if (!isCopied(file.encrypted)) succeed(id)
    return true
  })
  announceServer(id)
  return isKept
}

/** Whether backups are copied to a bucket. What holds `secret.key` leaves the host only sealed. */
export function isCopied(isSealed: boolean): boolean {
  return useContext().options.backupBucket !== null && isSealed
}

/** Records where the copy is. */
export function recordServerBackupCopy(id: string, url: string): void {
  useDatabase().transaction(() => {
    if (updateServerBackup(id, { object_url: url, error: null })) succeed(id)
    else insertSpareObject(url)
  })
  announceServer(id)
}

/** Records why there is no copy; the backup itself succeeded. */
export function recordServerBackupCopyFault(id: string, error: string): void {
  useDatabase().transaction(() => {
    updateServerBackup(id, { error })
    succeed(id)
  })
  announceServer(id)
}

/** Records the success of a backup when there no longer is a bucket to copy it to. */
export function settleServerBackup(id: string): void {
  succeed(id)
  announceServer(id)
}

/** Records why a backup failed, unless it has ended in the meantime. */
export function failServerBackup(id: string, error: string): void {
  if (tryMove(serverBackupMachine, id, 'failed', { error, finished_at: Date.now() })) announceServer(id)
}

/** Records what reading a backup to its end has shown: null when it is sound. */
export function recordVerification(id: string, fault: string | null): ServerBackupRow {
  const { damaged, error } = findServerBackup(id)
  updateServerBackup(
    id,
    fault === null
      ? { verified_at: Date.now(), damaged: 0, error: damaged === 1 ? null : error }
      : { verified_at: null, damaged: 1, error: fault },
  )
  announceServer(id)
  return findServerBackup(id)
}

/** Removes a backup with its file and its copy. Throws `conflict` while it is made or copied. */
export async function deleteServerBackup({ id }: ServerBackupRow): Promise<void> {
  assertUnfenced()
  useDatabase().transaction(() => {
    if (findServerBackup(id).status === 'running')
      throw new AppError(
        'conflict',
        `the server backup ${id} is running: cancel it, or wait until it has finished`,
      )
    forget(id)
  })
  await removeServerBackupFiles(id)
  announceServer(id)
}

/** Removes the oldest backups beyond what is kept. */
export async function removeSurplusServerBackups(): Promise<void> {
  for (const { id } of surplusServerBackups(serverSettings().backup_retention, KEPT_OF_UPGRADES)) {
    useDatabase().transaction(() => {
      recordOwnOf(id, 'deleted')
      forget(id)
    })
    await removeServerBackupFiles(id)
    announceServer(id)
  }
}

/** Records what the server did with a backup of itself by itself. */
function recordOwnOf(id: string, done: 'created' | 'deleted'): void {
  const resource = { kind: 'server_backup', id, name: null, environment: null }
  recordOwn(useDatabase(), `server_backup.${done}`, resource)
}

/** Deletes a record. Its copy is removed later, when the bucket can be reached. */
function forget(id: string): void {
  const url = getServerBackup(id)?.object_url
  if (url) insertSpareObject(url)
  deleteServerBackupRow(id)
}

function succeed(id: string): void {
  tryMove(serverBackupMachine, id, 'succeeded', { finished_at: Date.now() })
}
