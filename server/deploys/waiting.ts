import { announceDeploy } from '../changes.ts'
import { timestamp } from '../clock.ts'
import type { FileSystem } from '../disk-use/file-systems.ts'
import type { Deploy } from './schema.ts'
import type { DeployRow } from './store.ts'

/** A wait for room on a disk; the time is in milliseconds. */
interface DiskWait {
  serviceId: string
  freeBytes: number
  floorBytes: number
  since: number
}

/** In memory: the queue finds out again after a restart, and a full disk might not take a record of it. */
let waits: ReadonlyMap<string, DiskWait> = new Map()

type Held = Pick<DeployRow, 'id' | 'service_id'>

/**
 * Records which queued deploys wait for room on a file system, in place of all earlier ones, and announces those that begin
 * or no longer wait. Returns those that begin.
 */
export function setDiskWaits<D extends Held>(
  held: readonly D[],
  { freeBytes, floorBytes }: Pick<FileSystem, 'freeBytes' | 'floorBytes'>,
): D[] {
  const [before, now] = [waits, Date.now()]
  waits = new Map(
    held.map(({ id, service_id: serviceId }) => {
      const since = before.get(id)?.since ?? now
      return [id, { serviceId, freeBytes, floorBytes, since }]
    }),
  )
  const begun = held.filter(({ id }) => !before.has(id))
  for (const { id, service_id } of begun) announceDeploy(id, service_id)
  for (const [id, { serviceId }] of before) if (!waits.has(id)) announceDeploy(id, serviceId)
  return begun
}

/** What a deploy waits for; null if it is not queued, or waits only for its turn. */
export function waitingOf({ id, status }: Pick<DeployRow, 'id' | 'status'>): Deploy['waiting'] {
  const wait = status === 'queued' ? waits.get(id) : undefined
  if (!wait) return null
  const { freeBytes, floorBytes, since } = wait
  return { for: 'disk', free_bytes: freeBytes, floor_bytes: floorBytes, since: timestamp(since) }
}
