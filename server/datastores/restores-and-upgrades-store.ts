import { useDatabase } from '../context.ts'

/**
 * Why a datastore gets other data: `first` fills a new one, `restore` goes back to a backup, `upgrade` takes what it holds
 * now over to another version.
 */
export type RestoreOrUpgradeKind = 'first' | 'restore' | 'upgrade'

/** A row of `replacements`: data that is to take the place of what a datastore holds. It is there until that serves. */
export interface RestoreOrUpgrade {
  datastore_id: string
  kind: RestoreOrUpgradeKind
  /** Null until an upgrade has made its own. */
  backup_id: string | null
  /** Of the image that the new data is for. */
  version: string
  /** The volume that is being filled. */
  volume: string
  /** 1 when the datastore takes no writes any more: what is written while it is copied for an upgrade would be lost. */
  reads_only: 0 | 1
  /** How often it was begun: an end of the server or of the engine begins it anew. Orderly ends of the server are not counted. */
  tries: number
}

/** What a new row says; the rest follows from the table's defaults. */
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

/** Records that it is begun once more, with a volume that nothing was written to yet. */
export function countTry(datastoreId: string, volume: string): void {
  useDatabase().run(
    'UPDATE replacements SET tries = tries + 1, volume = ? WHERE datastore_id = ?',
    volume,
    datastoreId,
  )
}

/** Takes back a try of each that was begun. */
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

/** A volume that no datastore uses any more. */
export interface SpareVolume {
  volume: string
  datastore_id: string
  /** Milliseconds; until then it is kept. */
  remove_at: number
  /** Of the image that wrote it; null for what nobody goes back to. */
  version: string | null
}

/** Gives up a volume that nothing of worth was written to. */
export function giveUpVolume(volume: string, datastoreId: string): void {
  insertSpareVolume({ volume, datastore_id: datastoreId, remove_at: 0, version: null })
}

export function insertSpareVolume({ volume, datastore_id, remove_at, version }: SpareVolume): void {
  useDatabase().run(
    'INSERT OR REPLACE INTO spare_volumes (volume, datastore_id, remove_at, version) VALUES (?, ?, ?, ?)',
    volume,
    datastore_id,
    remove_at,
    version,
  )
}

/** Those whose time has come. */
export function dueSpareVolumes(): SpareVolume[] {
  return useDatabase().all<SpareVolume>('SELECT * FROM spare_volumes WHERE remove_at <= ?', Date.now())
}

/** Those of one datastore. */
export function spareVolumesOf(datastoreId: string): SpareVolume[] {
  return useDatabase().all<SpareVolume>('SELECT * FROM spare_volumes WHERE datastore_id = ?', datastoreId)
}

export function forgetSpareVolume(volume: string): void {
  useDatabase().run('DELETE FROM spare_volumes WHERE volume = ?', volume)
}
