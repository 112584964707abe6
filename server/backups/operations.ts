import { recordOwn } from '../audit/recording.ts'
import { useContext, useDatabase } from '../context.ts'
import { loadEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { isId, kindOfId, newId } from '../ids.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { tryMove } from '../state-machine.ts'
import { useBucket, type Bucket } from './bucket.ts'
import { downloadName } from './download.ts'
import { removeBackupFiles } from './files.ts'
import { announceOwner, findOwner, type BackupOwner } from './owners.ts'
import type { Written } from './part-file.ts'
import { backupMachine, type BackupTrigger } from './states.ts'
import {
  deleteBackupRow,
  forgetSpareObject,
  getBackup,
  insertBackup,
  insertSpareObject,
  isBeingRestored,
  listBackups,
  runningBackup,
  setBackupCopy,
  setBackupFile,
  surplusBackups,
  type BackupRow,
} from './store.ts'

/** What the programs of age call their files. */
const SEALED_SUFFIX = '.age'

/** A datastore, or a service and which of its disks is meant. */
interface Subject {
  id: string
  disk?: string | null
}

/** The backup of a datastore or of a service's disks with this id. Throws `not_found`. */
export function findBackup({ id: ownerId, name }: { id: string; name: string }, id: string): BackupRow {
  const found = isId('backup', id) || isId('diskBackup', id) ? getBackup(id) : undefined
  if (found?.owner_id !== ownerId) throw new AppError('not_found', `${name} has no backup ${id}`)
  return found
}

/**
 * Records a backup that the daemon then makes; with `suspends`, the program is stopped while its disk is read. Throws
 * `conflict` while one is running or the data cannot be read.
 */
export function requestBackup(of: Subject, suspends = false): BackupRow {
  assertUnfenced()
  const { obstacle } = ownerOf(of)
  if (obstacle) throw new AppError('conflict', obstacle.refusal)
  return beginBackup(of, 'manual', () => {}, suspends)
}

/**
 * Records a backup, whatever the state of its owner, and in the same transaction what `record` writes. Throws `conflict`
 * while one is running.
 */
export function beginBackup(
  of: Subject,
  trigger: BackupTrigger,
  record: (id: string) => void = () => {},
  suspends = false,
): BackupRow {
  const owner = ownerOf(of)
  const id = newId(owner.idKind)
  useDatabase().transaction(() => {
    const running = runningBackup(owner.id, owner.disk)
    if (running) throw new AppError('conflict', `the backup ${running.id} of ${owner.title} is running`)
    insertBackup({ id, ...columnsOf(owner), suspends: suspends ? 1 : 0, trigger })
    recordOwnOf(owner, id, 'created')
    record(id)
  })
  announceOwner(columnsOf(owner))
  return getBackup(id)!
}

/** Records a scheduled backup that could not start. */
export function missBackup(owner: BackupOwner, error: string): void {
  insertBackup({ id: newId(owner.idKind), ...columnsOf(owner), suspends: 0, trigger: 'schedule', error })
  announceOwner(columnsOf(owner))
}

/** Records why a backup failed, unless it has ended or was removed in the meantime. */
export function failBackup(backup: BackupRow, error: string): void {
  if (tryMove(backupMachine, backup.id, 'failed', { error, finished_at: Date.now() })) announceOwner(backup)
}

/** Records that the file of a backup is complete. The backup has then succeeded, unless a copy is still to follow. */
export function recordBackupFile(backup: BackupRow, { size_bytes, sha256 }: Written): void {
  if (!setBackupFile(backup.id, size_bytes, sha256)) return
  if (useBucket() === null) succeed(backup.id)
  announceOwner(backup)
}

/** Records the success of a backup with a file when there no longer is a bucket to copy it to. */
export function settleBackup(backup: BackupRow): void {
  succeed(backup.id)
  announceOwner(backup)
}

/** The address of a backup's copy, named so that people can find it without this server. */
export function copyUrlOf(bucket: Bucket, backup: BackupRow): string {
  const { environment_id, name } = findOwner(backup.owner_id, backup.disk)!
  const folder = `${loadEnvironment(environment_id).name}/${name}`
  const suffix = isSealing() ? SEALED_SUFFIX : ''
  return bucket.urlOf(`${folder}/${backup.id}-${downloadName(backup)}${suffix}`)
}

/** Records that the copy of a backup is complete. If the backup was removed meanwhile, the copy stays marked for removal. */
export function recordCopy(backup: BackupRow, url: string): void {
  useDatabase().transaction(() => {
    if (!setBackupCopy(backup.id, { url, isSealed: isSealing() })) return
    forgetSpareObject(url)
    succeed(backup.id)
  })
  announceOwner(backup)
}

/** Records why there is no copy of a backup; its file stays. */
export function recordCopyFault(backup: BackupRow, error: string): void {
  useDatabase().transaction(() => {
    if (setBackupCopy(backup.id, { error })) succeed(backup.id)
  })
  announceOwner(backup)
}

/** Removes a backup with its file and its copy. Throws `conflict` while it is made or restored. */
export async function deleteBackup(backup: BackupRow): Promise<void> {
  assertUnfenced()
  const { id } = backup
  useDatabase().transaction(() => {
    if (getBackup(id)?.status === 'running')
      throw new AppError('conflict', `the backup ${id} is running: wait until it has finished`)
    if (isBeingRestored(id))
      throw new AppError('conflict', `the backup ${id} is being restored: wait until that has finished`)
    forgetBackup(id)
  })
  await removeBackupFiles(id)
  announceOwner(backup)
}

/** Removes a backup that nobody asked for any more, with its file and its copy. */
export async function withdrawBackup(backup: BackupRow): Promise<void> {
  useDatabase().transaction(() => {
    const owner = findOwner(backup.owner_id, backup.disk)
    if (owner) recordOwnOf(owner, backup.id, 'deleted')
    forgetBackup(backup.id)
  })
  await removeBackupFiles(backup.id)
  announceOwner(backup)
}

/** Removes the oldest backups beyond what is kept of each datastore and disk. */
export async function removeSurplusBackups(): Promise<void> {
  for (const backup of surplusBackups()) await withdrawBackup(backup)
}

/** Removes every backup of a datastore or a service that is being deleted, with its file and its copy. */
export async function removeBackupsOf(ownerId: string): Promise<void> {
  for (const { id } of listBackups(ownerId)) {
    useDatabase().transaction(() => forgetBackup(id))
    await removeBackupFiles(id)
  }
}

/** Records what the server did with a backup by itself. */
function recordOwnOf({ name, environment_id }: BackupOwner, id: string, done: 'created' | 'deleted'): void {
  const kind = kindOfId(id)!
  const environment = loadEnvironment(environment_id).name
  recordOwn(useDatabase(), `${kind}.${done}`, { kind, id, name, environment })
}

/** Deletes the record of a backup. Its copy is removed later, when the bucket can be reached. */
function forgetBackup(id: string): void {
  const url = getBackup(id)?.object_url
  if (url) insertSpareObject(url)
  deleteBackupRow(id)
}

function ownerOf({ id, disk = null }: Subject): BackupOwner {
  const owner = findOwner(id, disk)
  if (!owner) throw new AppError('not_found', `${id} is gone`)
  return owner
}

/** Whether copies in the bucket are sealed. */
function isSealing(): boolean {
  return useContext().options.backupPassphrase !== null
}

/** The columns of a backup that say whose it is. */
function columnsOf({ id, kind, disk }: BackupOwner): Pick<BackupRow, 'datastore_id' | 'service_id' | 'disk'> {
  return kind === 'datastore'
    ? { datastore_id: id, service_id: null, disk: null }
    : { datastore_id: null, service_id: id, disk }
}

function succeed(id: string): void {
  tryMove(backupMachine, id, 'succeeded', { finished_at: Date.now() })
}
