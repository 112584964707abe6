import { getBackup } from '#server/backups/store.ts'
import { onChange } from '#server/changes.ts'
import {
  getDiskRestore,
  isDiskRestoring,
  runningDiskRestores,
  takeBackDiskTries,
  type DiskRestoreRow,
} from '#server/disks/restores-store.ts'
import { beginDiskTry, finishDiskRestore, giveUpDiskRestore } from '#server/disks/restores.ts'
import { diskVolume, nodeOfDisks } from '#server/disks/volume.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { isBeingMoved } from '#server/moves/store.ts'
import { getService } from '#server/services/store.ts'
import { acrossDepartures, limitedTry } from '../backups/tries.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { fillDisk, provideDiskBackup } from './fill.ts'
import { removeStrayHelpers } from './helper.ts'
import { whileStopped } from './hold.ts'

const log = logger('disks')

const PERIOD_MS = 60_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024

/**
 * Restores of disks: fills a new volume while the service runs on its disk, then stops its program and replaces the one by
 * the other. After a stop of the server or of the engine it starts over; a half-filled volume is discarded.
 */
export class DiskRestores {
  readonly #world: World
  readonly #work = new Background()
  readonly #isBackupUnderWay: (name: string) => boolean
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  /** `isBackupUnderWay` says whether a container of this name belongs to a backup in progress. */
  constructor(world: World, isBackupUnderWay: (name: string) => boolean) {
    this.#world = world
    this.#isBackupUnderWay = isBackupUnderWay
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind === 'all' || (kind === 'service' && isDiskRestoring(id))) this.#wake()
    })
  }

  /** Continues what the last run of the server left. If the server did not crash, that try does not count. */
  recover(hasCrashed: boolean): void {
    if (!hasCrashed) takeBackDiskTries()
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return {
      name: 'restores of disks',
      everyMs: PERIOD_MS,
      run: async () => {
        if (this.#world.reachByAddress === null) return
        for (const { service_id } of runningDiskRestores()) this.#begin(service_id)
        await removeStrayHelpers(this.#world, (name) => this.#isUnderWay(name))
      },
    }
  }

  /** Cancels the restore of a service that is being deleted, and waits until it has ended. */
  async cancel(serviceId: string): Promise<void> {
    await this.#work.cancel(serviceId)
  }

  stop(): void {
    this.#stopListening()
    this.#work.stop()
  }

  /** Whether a helper of this name is in use. */
  #isUnderWay(name: string): boolean {
    const isRestore = runningDiskRestores().some(({ volume }) => volume === name)
    return isRestore || isBeingMoved(name) || this.#isBackupUnderWay(name)
  }

  #begin(id: string): void {
    if (this.#work.has(id) || getService(id)?.deleting) return
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#run(id, signal),
      onFailure: (error) => {
        const restore = getDiskRestore(id)
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
        if (restore) giveUpDiskRestore(restore, reason)
        log.warn('a disk was not restored', { service: id, error: reason })
      },
      onEnd: () => this.#wake(),
    })
  }

  /** Starts over when the engine is back, if it went away in between. */
  #run(id: string, stop: AbortSignal): Promise<void> {
    const attempt = (): Promise<void> => {
      const restore = beginDiskTry(getDiskRestore(id)!)
      return limitedTry(restore.tries, stop, (signal) => this.#replace(restore, signal))
    }
    return acrossDepartures(this.#world, [nodeOfDisks(getService(id)!)], stop, attempt, (error) =>
      log.warn('the engine went away while a disk was being restored; starting over', {
        service: id,
        error: messageOf(error),
      }),
    )
  }

  async #replace(restore: DiskRestoreRow, signal: AbortSignal): Promise<void> {
    const { service_id: id, disk, volume } = restore
    const engine = this.#world.engineOf(nodeOfDisks(getService(id)!))
    const { volumes } = engine
    const backup = getBackup(restore.backup_id)
    if (!backup) throw new AppError('runtime_error', 'the backup was deleted')
    // A damaged file is found before anything changes.
    await provideDiskBackup(backup, signal)
    await volumes.create(volume, { 'deployer.service': id })
    await fillDisk(engine, restore, backup, signal)
    await whileStopped(id, signal, async () => {
      const former = diskVolume(id, disk)
      const hasFormer = (await volumes.inspect(former)) !== null
      signal.throwIfAborted()
      finishDiskRestore(restore, hasFormer)
      log.info('a disk was restored; its former volume is kept for a day', {
        service: id,
        disk,
        kept: hasFormer ? former : null,
        used: volume,
      })
    })
  }
}
