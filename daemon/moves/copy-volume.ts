import { Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import { withHelper, DISKS_FOLDER } from '../disks/helper.ts'
import { wholeTar } from '../disks/whole-tar.ts'
import type { Engine } from '../engine/index.ts'
import { Tally } from './tally.ts'

/** The name of the folder that a volume is in the archive. */
const FOLDER = 'volume'

/** A volume to copy, and the new one, whose name its helpers have. */
interface Copy {
  source: string
  target: string
  /** The labels of the new volume. */
  labels: Record<string, string>
}

/**
 * Copies a volume that nothing writes to from one engine to another, as a stream that is never unpacked here, and compares what
 * has arrived with what was sent. `onBytes` hears how much is copied. Throws `runtime_error`, or the signal's reason.
 */
export async function copyVolume(
  [from, to]: readonly [Engine, Engine],
  { source, target, labels }: Copy,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  await to.volumes.create(target, labels)
  const helper = { name: target, folder: FOLDER, labels }
  await withHelper(from, { ...helper, volume: source }, () =>
    withHelper(to, { ...helper, volume: target }, async () => {
      const sent = new Tally(onBytes)
      await send(to, target, await read(from, target, sent, signal), signal)
      const arrived = new Tally()
      for await (const _ of await read(to, target, arrived, signal)) signal.throwIfAborted()
      const difference = arrived.differenceFrom(sent)
      if (difference !== null) throw new AppError('runtime_error', `its copy is not the same: ${difference}`)
    }),
  )
}

/** The archive of a helper's volume, counted while it is read. */
async function read(
  engine: Engine,
  helper: string,
  tally: Tally,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const tar = await engine.containers.getArchive(helper, `${DISKS_FOLDER}/${FOLDER}`, signal)
  if (!tar) throw new AppError('runtime_error', 'a volume was removed externally')
  return wholeTar(tar, tally)
}

async function send(
  to: Engine,
  helper: string,
  archive: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const broken = new AbortController()
  const tar = Readable.from(archive, { objectMode: false })
  // The engine would wait for the rest.
  tar.once('error', (error) => broken.abort(error))
  await to.containers.putArchive(helper, DISKS_FOLDER, tar, {
    signal: AbortSignal.any([signal, broken.signal]),
  })
}
