import { announceDatastore, announceService, onChange } from '../changes.ts'
import { KINDS } from '../datastores/kinds.ts'
import { allDatastores, getDatastore, recordDatastore, type DatastoreRow } from '../datastores/store.ts'
import { disksOf, diskTitle } from '../disks/list.ts'
import { isDiskRestoring } from '../disks/restores-store.ts'
import type { IdKind } from '../ids.ts'
import { runningMove } from '../moves/store.ts'
import { allServices, getService, recordService, type ServiceRow } from '../services/store.ts'

/** What backups are made of. */
export type OwnerKind = 'datastore' | 'disk'

/** A datastore, or a service as the owner of one of its disks. */
export interface BackupOwner {
  id: string
  kind: OwnerKind
  /** The name of the disk; null for a datastore. */
  disk: string | null
  /** The kind of its backups' ids. */
  idKind: IdKind
  environment_id: string
  name: string
  /** How messages name it. */
  title: string
  /** What the names of its files end with. */
  extension: string
  /** When backups are made automatically; null for never. */
  schedule: string | null
  /** The time up to which the schedule has been handled; null before it is set. */
  seenAt: number | null
  isDeleting: boolean
  /** Why no backup can be made now; null if one can. */
  obstacle: Obstacle | null
}

interface Obstacle {
  /** For those who ask for a backup. */
  refusal: string
  /** What it was then, for the record of a backup that was not made. */
  state: string
}

/** The columns of a backup that say whose it is. */
export interface Owned {
  datastore_id: string | null
  service_id: string | null
}

/** The owner of this id, of the disk of this name if it is a service; undefined when it is gone. */
export function findOwner(id: string, disk: string | null): BackupOwner | undefined {
  const datastore = getDatastore(id)
  if (datastore) return ofDatastore(datastore)
  const service = getService(id)
  return service && ofDisk(service, disk!)
}

/** Every datastore, and the disks of every service that has run with one. */
export function allOwners(): BackupOwner[] {
  const services = allServices().filter(({ live_deploy_id }) => live_deploy_id !== null)
  return [...allDatastores().map(ofDatastore), ...services.flatMap(ofDisks)]
}

/** Everything of which backups are made automatically, in groups that share a schedule: the disks of a service. */
export function scheduledOwners(): BackupOwner[][] {
  const services = allServices().filter(({ disk_backup_schedule }) => disk_backup_schedule !== null)
  return [...allDatastores().map((row) => [ofDatastore(row)]), ...services.map(ofDisks)].filter(
    ([owner]) => owner !== undefined && owner.schedule !== null && !owner.isDeleting,
  )
}

/** Services change far more often than their backups, so those who care for backups alone listen here. */
const listeners = new Set<() => void>()

/** Announces a change of a backup, as a change of what it is of. */
export function announceOwner({ datastore_id, service_id }: Owned): void {
  if (datastore_id !== null) return announceDatastore(datastore_id)
  announceService(service_id!)
  announceDiskBackups()
}

/** Announces that a disk's backups, or when they are made, may have changed. */
export function announceDiskBackups(): void {
  for (const listener of listeners) listener()
}

/** Calls `listener` when backups, or when they are made, may have changed. The returned function stops that. */
export function onBackupChange(listener: () => void): () => void {
  const stopListening = onChange(({ kind }) => {
    if (kind === 'datastore') listener()
  })
  listeners.add(listener)
  return () => {
    stopListening()
    listeners.delete(listener)
  }
}

/** Records up to when a schedule has been handled. */
export function recordSeen({ id, kind }: BackupOwner, at: number): void {
  if (kind === 'datastore') recordDatastore(id, { backup_seen_at: at })
  else recordService(id, { disk_backup_seen_at: at })
}

function ofDatastore(row: DatastoreRow): BackupOwner {
  const { id, environment_id, name, status } = row
  const obstacle = {
    refusal: `datastore ${name} is ${status}: it can only be backed up while it is available`,
    state: `the datastore was ${status}`,
  }
  return {
    id,
    kind: 'datastore',
    disk: null,
    idKind: 'backup',
    environment_id,
    name,
    title: `datastore ${name}`,
    extension: KINDS[row.kind].backupExtension,
    schedule: row.backup_schedule,
    seenAt: row.backup_seen_at,
    isDeleting: status === 'deleting',
    obstacle: status === 'available' ? null : obstacle,
  }
}

function ofDisks(row: ServiceRow): BackupOwner[] {
  return disksOf(row).map(({ name }) => ofDisk(row, name))
}

function ofDisk(row: ServiceRow, disk: string): BackupOwner {
  const { id, environment_id, name } = row
  return {
    id,
    kind: 'disk',
    disk,
    idKind: 'diskBackup',
    environment_id,
    name,
    title: diskTitle(row, disk),
    extension: 'tar.gz',
    schedule: row.disk_backup_schedule,
    seenAt: row.disk_backup_seen_at,
    isDeleting: row.deleting === 1,
    obstacle: obstacleOfDisk(row, disk),
  }
}

function obstacleOfDisk(row: ServiceRow, disk: string): Obstacle | null {
  const { id, name, disk_mount_path, deleting } = row
  if (deleting) return { refusal: `service ${name} is being deleted`, state: 'the service was being deleted' }
  if (disk_mount_path === null)
    return {
      refusal: `service ${name} has no disk: set disk_mount_path and deploy`,
      state: 'the service had no disk',
    }
  if (isDiskRestoring(id, disk))
    return {
      refusal: `${diskTitle(row, disk)} is being restored: wait until that has finished`,
      state: 'the disk was being restored',
    }
  if (runningMove(id))
    return {
      refusal: `service ${name} is being moved: wait until that has finished`,
      state: 'the service was being moved',
    }
  return null
}
