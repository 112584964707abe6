import { insertSpareVolume } from '../backups/spare-volumes.ts'
import { useDatabase } from '../context.ts'
import { runningMove } from '../moves/store.ts'
import { ownNodeId } from '../nodes/store.ts'
import { getDatastore } from './store.ts'

/**
 * Why a datastore gets other data: `first` fills a new one, `restore` goes back to a backup, `upgrade` moves the current
 * data to another version.
 */
export type RestoreOrUpgradeKind = 'first' | 'restore' | 'upgrade'

/** A row of `replacements`: data that will replace what a datastore holds. It exists until that data is in use. */
export interface RestoreOrUpgrade {
  datastore_id: string
  kind: RestoreOrUpgradeKind
  /** Null until an upgrade has made a backup of its own. */
  backup_id: string | null
  /** The version of the image for the new data. */
  version: string
  /** The volume that is being filled. */
  volume: string
  /** 1 when the datastore is read-only: writes during the copy of an upgrade would be lost. */
  reads_only: 0 | 1
  /**
   * How often it was begun. It begins again when the server or the engine stops; orderly stops of the server are not
   * counted.
   */
  tries: number
}

/** The columns of a new row; the others get the table's defaults. */
export type NewRestoreOrUpgrade = Omit<RestoreOrUpgrade, 'tries' | 'reads_only'>

export function getRestoreOrUpgrade(datastoreId: string): RestoreOrUpgrade | undefined {
  return useDatabase().get<RestoreOrUpgrade>('SELECT * FROM replacements WHERE datastore_id = ?', datastoreId)
}

export function allRestoresAndUpgrades(): RestoreOrUpgrade[] {
  return useDatabase().all<RestoreOrUpgrade>('SELECT * FROM replacements ORDER BY datastore_id')
}

export function insertRestoreOrUpgrade(row: NewRestoreOrUpgrade): void {
  useDatabase().run(
    'INSERT INTO replacements (datastore_id, kind, backup_id, version, volume) VALUES (?, ?, ?, ?, ?)',
    row.datastore_id,
    row.kind,
    row.backup_id,
    row.version,
    row.volume,
  )
}

/** Records another try, with a new empty volume. */
export function countTry(datastoreId: string, volume: string): void {
  useDatabase().run(
    'UPDATE replacements SET tries = tries + 1, volume = ? WHERE datastore_id = ?',
    volume,
    datastoreId,
  )
}

/** Takes one try back from each replacement that was begun. */
export function takeBackTries(): void {
  useDatabase().run('UPDATE replacements SET tries = tries - 1 WHERE tries > 0')
}

export function updateRestoreOrUpgrade(
  datastoreId: string,
  columns: Partial<Pick<RestoreOrUpgrade, 'backup_id' | 'reads_only'>>,
): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE replacements SET ${assignments.join(', ')} WHERE datastore_id = ?`,
    ...Object.values(columns),
    datastoreId,
  )
}

export function deleteRestoreOrUpgrade(datastoreId: string): void {
  useDatabase().run('DELETE FROM replacements WHERE datastore_id = ?', datastoreId)
}

/** Gives up a volume that holds nothing worth keeping. */
export function giveUpVolume(volume: string, datastoreId: string): void {
  // A move fills one on the node that it goes to.
  const node_id = runningMove(datastoreId)?.to_node_id ?? getDatastore(datastoreId)?.node_id ?? ownNodeId()
  insertSpareVolume({ volume, node_id, datastore_id: datastoreId, remove_at: 0 })
}
