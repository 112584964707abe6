import { useDatabase } from '../context.ts'

/** A volume that no datastore and no disk uses any more. */
export interface SpareVolume {
  volume: string
  /** Where it is. */
  node_id: string
  datastore_id: string | null
  service_id: string | null
  /** The name of the disk; null for a datastore. */
  disk: string | null
  /** Milliseconds; the volume is kept until then. */
  remove_at: number
  /** The version of the image that wrote it; null for a disk, and when nobody will go back to it. */
  version: string | null
}

/** How long replaced data is kept. */
export const KEPT_MS = 24 * 3_600_000

/** Records a volume that is kept until `remove_at`. Exactly one of the two ids is given. */
export function insertSpareVolume({
  volume,
  node_id,
  datastore_id = null,
  service_id = null,
  disk = null,
  remove_at,
  version = null,
}: Pick<SpareVolume, 'volume' | 'node_id' | 'remove_at'> & Partial<SpareVolume>): void {
  useDatabase().run(
    'INSERT OR REPLACE INTO spare_volumes (volume, node_id, datastore_id, service_id, disk, remove_at, version) VALUES (?, ?, ?, ?, ?, ?, ?)',
    volume,
    node_id,
    datastore_id,
    service_id,
    disk,
    remove_at,
    version,
  )
}

/** The volumes whose time has come. */
export function dueSpareVolumes(): SpareVolume[] {
  return useDatabase().all<SpareVolume>('SELECT * FROM spare_volumes WHERE remove_at <= ?', Date.now())
}

/** The volumes of one datastore or service. */
export function spareVolumesOf(ownerId: string): SpareVolume[] {
  return useDatabase().all<SpareVolume>(
    'SELECT * FROM spare_volumes WHERE coalesce(datastore_id, service_id) = ?',
    ownerId,
  )
}

/** The volumes on one node. */
export function spareVolumesOn(nodeId: string): SpareVolume[] {
  return useDatabase().all<SpareVolume>('SELECT * FROM spare_volumes WHERE node_id = ?', nodeId)
}

export function forgetSpareVolume(volume: string): void {
  useDatabase().run('DELETE FROM spare_volumes WHERE volume = ?', volume)
}

/** The replaced volumes of an environment's disks that can still be used again, by service, newest first. */
export function keptDisksOf(environmentId: string): Map<string, SpareVolume[]> {
  const rows = useDatabase().all<SpareVolume>(
    `SELECT spare_volumes.* FROM spare_volumes JOIN services ON services.id = service_id
     WHERE environment_id = ? AND remove_at > ? ORDER BY remove_at DESC`,
    environmentId,
    Date.now(),
  )
  return Map.groupBy(rows, ({ service_id }) => service_id!)
}
