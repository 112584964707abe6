import { useDatabase } from '../context.ts'
import { randomHex } from '../ids.ts'
import { ownNodeId } from '../nodes/store.ts'
import type { ServiceRow } from '../services/store.ts'
import { DISK } from './states.ts'

/** Distinguishes the volumes of a disk when a restored one replaces the first. */
const SUFFIX_BYTES = 4

/** The node of the disks that a service has or had. */
export function nodeOfDisks({ node_id }: Pick<ServiceRow, 'node_id'>): string {
  return node_id ?? ownNodeId()
}

/** The node of a volume that is left of a disk from before volumes were recorded with their service; null without one. */
export function nodeOfUnrecordedVolume(serviceId: string): string | null {
  const sql = "SELECT node_id FROM engine_things WHERE kind = 'volume' AND name = ?"
  return useDatabase().get<{ node_id: string }>(sql, firstVolume(serviceId, DISK))?.node_id ?? null
}

/** The name of the volume that is a service's disk. It exists from the service's first deploy with that disk. */
export function diskVolume(serviceId: string, disk: string): string {
  const row = useDatabase().get<{ volume: string }>(
    'SELECT volume FROM disk_volumes WHERE service_id = ? AND disk = ?',
    serviceId,
    disk,
  )
  return row?.volume ?? firstVolume(serviceId, disk)
}

/** The volumes of all disks that a service has or had. */
export function diskVolumesOf(serviceId: string): string[] {
  const rows = useDatabase().all<{ volume: string }>(
    'SELECT volume FROM disk_volumes WHERE service_id = ?',
    serviceId,
  )
  // That of a disk from before volumes were recorded.
  return [...new Set([firstVolume(serviceId, DISK), ...rows.map(({ volume }) => volume)])]
}

/** Those volumes by the names of their disks. */
export function diskVolumesByName(serviceId: string): Map<string, string> {
  const rows = useDatabase().all<{ disk: string; volume: string }>(
    'SELECT disk, volume FROM disk_volumes WHERE service_id = ?',
    serviceId,
  )
  return new Map([
    [DISK, firstVolume(serviceId, DISK)],
    ...rows.map(({ disk, volume }) => [disk, volume] as const),
  ])
}

/** Records which volume is a service's disk. */
export function recordDiskVolume(serviceId: string, disk: string, volume: string): void {
  useDatabase().run(
    'INSERT OR REPLACE INTO disk_volumes (service_id, disk, volume) VALUES (?, ?, ?)',
    serviceId,
    disk,
    volume,
  )
}

/** Forgets the volume of a former disk that is not here any more. */
export function forgetDiskVolume(serviceId: string, disk: string): void {
  useDatabase().run('DELETE FROM disk_volumes WHERE service_id = ? AND disk = ?', serviceId, disk)
}

/** A new, unique name for a volume of a service's disk. */
export function newDiskVolume(serviceId: string): string {
  return `deployer-${serviceId}-${randomHex(SUFFIX_BYTES)}`
}

/** The dot keeps the names of disks apart from the suffixes of restored volumes. */
function firstVolume(serviceId: string, disk: string): string {
  return disk === DISK ? `deployer-${serviceId}` : `deployer-${serviceId}.${disk}`
}
