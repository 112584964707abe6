import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { BackupRow } from '#server/backups/store.ts'
import { diskTitle } from '#server/disks/list.ts'
import { diskVolume, nodeOfDisks } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import { getService } from '#server/services/store.ts'
import type { Dump } from '../backups/making.ts'
import type { Engine } from '../engine/index.ts'
import { DISKS_FOLDER, withHelper } from './helper.ts'
import { whileStopped } from './hold.ts'
import { TornArchive, wholeTar } from './whole-tar.ts'

/** The fastest: the level above takes twice the time for some percent of the size. */
const GZIP = { level: 1, chunkSize: 256 * 1024 }
/** How often a disk is read again, when one of its files became shorter in the middle. */
const MAX_READS = 3

type Write = Parameters<Dump>[2]

/** Writes an archive of a disk, as the engine makes it, while the program runs or, if that was asked for, is stopped. */
export const dumpDisk: Dump = async (world, backup, write, signal) => {
  const service = getService(backup.service_id!)
  if (!service) throw new AppError('runtime_error', 'the service is gone')
  const disk = backup.disk!
  const volume = diskVolume(service.id, disk)
  // A container that mounts it would create it.
  const engine = world.engineOf(nodeOfDisks(service))
  if (!(await engine.volumes.inspect(volume)))
    throw new AppError('runtime_error', `${diskTitle(service, disk)} does not exist yet: deploy it first`)
  const labels = { 'deployer.service': service.id }
  const helper = { name: backup.id, labels, volume, folder: disk }
  const copy = (): Promise<void> =>
    withHelper(engine, helper, () => readAgainIfTorn(() => copyDisk(engine, backup, write, signal)))
  await (backup.suspends ? whileStopped(service.id, signal, copy) : copy())
}

async function readAgainIfTorn(read: () => Promise<void>): Promise<void> {
  for (let reads = 1; ; reads++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof TornArchive) || reads >= MAX_READS) throw error
    }
  }
}

async function copyDisk(
  { containers }: Engine,
  { id, disk }: BackupRow,
  write: Write,
  signal: AbortSignal,
): Promise<void> {
  const tar = await containers.getArchive(id, `${DISKS_FOLDER}/${disk}`, signal)
  if (!tar) throw new AppError('runtime_error', 'the disk was removed externally')
  const gzip = createGzip(GZIP)
  const [read, written] = await Promise.allSettled([
    pipeline(Readable.from(wholeTar(tar), { objectMode: false }), gzip, { signal }),
    write(gzip),
  ])
  signal.throwIfAborted()
  // If the file cannot be written, the archive just breaks off.
  if (written.status === 'rejected') throw written.reason
  if (read.status === 'rejected') throw read.reason
}
