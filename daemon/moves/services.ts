import { newestBackup } from '#server/backups/newest.ts'
import { onChange } from '#server/changes.ts'
import { getDeploy, openSnapshot } from '#server/deploys/store.ts'
import { disksOf } from '#server/disks/list.ts'
import { diskVolumesByName } from '#server/disks/volume.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { beginMoveTry, endServiceMove, finishServiceMove, volumesOf } from '#server/moves/services.ts'
import {
  getMove,
  runningMove,
  runningServiceMoves,
  takeBackMoveTries,
  type MoveRow,
} from '#server/moves/store.ts'
import { getService } from '#server/services/store.ts'
import { acrossDepartures, limitedTry } from '../backups/tries.ts'
import { fillDisk, provideDiskBackup } from '../disks/fill.ts'
import { whileStopped } from '../disks/hold.ts'
import { assertDiskUnused } from '../instances/containers.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { copyVolume } from './copy-volume.ts'
import { MoveCanceled, progressOf, whileMoving } from './while-moving.ts'

const log = logger('moves')

const PERIOD_MS = 60_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024

/**
 * Moves of services with disks: copies the disks to new volumes on the other node while the program is stopped, which then
 * starts there. After a stop of the server or of an engine it starts over; half-filled volumes are discarded.
 */
export class ServiceMoves {
  readonly #world: World
  readonly #work = new Background()
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind === 'all' || (kind === 'service' && runningMove(id))) this.#wake()
    })
  }

  /** Continues what the last run of the server left. If the server did not crash, that try does not count. */
  recover(hasCrashed: boolean): void {
    if (!hasCrashed) takeBackMoveTries()
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return {
      name: 'moves of services',
      everyMs: PERIOD_MS,
      run: async () => {
        if (this.#world.reachByAddress === null) return
        for (const { resource_id } of runningServiceMoves()) this.#begin(resource_id)
        await Promise.resolve()
      },
    }
  }

  /** Cancels the move of a service that is being deleted, and waits until it has ended. */
  async cancel(serviceId: string): Promise<void> {
    await this.#work.cancel(serviceId)
  }

  stop(): void {
    this.#stopListening()
    this.#work.stop()
  }

  #begin(id: string): void {
    if (this.#work.has(id) || getService(id)?.deleting) return
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#run(id, signal),
      onFailure: (error) => {
        if (error instanceof MoveCanceled) return
        const move = runningMove(id)
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
        if (move) endServiceMove(move, 'failed', reason)
        log.warn('a service was not moved', { service: id, error: reason })
      },
      onEnd: () => this.#wake(),
    })
  }

  /** Starts over when the engines are back, if one went away in between. */
  async #run(id: string, stop: AbortSignal): Promise<void> {
    const { from_backup, from_node_id: from, to_node_id: to } = getMove(id)!
    const nodes = from_backup ? [to] : [from, to]
    const attempt = (signal: AbortSignal): Promise<void> => {
      const begun = beginMoveTry(getMove(id)!, diskVolumesByName(id).keys())
      return limitedTry(begun.tries, signal, (either) => this.#move(begun, either))
    }
    await whileMoving(id, stop, (signal) =>
      acrossDepartures(
        this.#world,
        nodes,
        signal,
        () => attempt(signal),
        (error) =>
          log.warn('an engine went away while a service was being moved; starting over', {
            service: id,
            error: messageOf(error),
          }),
      ),
    )
    await this.#world.dataPlane.sync()
  }

  async #move(move: MoveRow, signal: AbortSignal): Promise<void> {
    const { resource_id: id, from_node_id: from, to_node_id: to } = move
    // Find out what is missing there before anything stops.
    await this.#provideImage(move, signal)
    const restored = move.from_backup ? await this.#restoreDisks(move, signal) : null
    const finish = async (): Promise<void> => {
      const filled = restored ?? (await this.#copyDisks(move, signal))
      signal.throwIfAborted()
      finishServiceMove(move, filled)
      const fields = { service: id, from, to }
      log.info('a service was moved to another node; its former volumes are kept for a day', fields)
    }
    await whileStopped(id, signal, finish, restored ? from : undefined)
  }

  async #provideImage({ resource_id: id, to_node_id: to }: MoveRow, signal: AbortSignal): Promise<void> {
    const live = getDeploy(getService(id)!.live_deploy_id ?? '')
    const snapshot = live && openSnapshot(live)
    if (snapshot) await this.#world.machines.provideImage(to, snapshot.image_id, id, signal)
  }

  /** Copies the disks that exist. Returns the new volumes by disk. */
  async #copyDisks(move: MoveRow, signal: AbortSignal): Promise<Map<string, string>> {
    const { resource_id: id, from_node_id, to_node_id } = move
    const engines = [this.#world.engineOf(from_node_id), this.#world.engineOf(to_node_id)] as const
    const targets = volumesOf(move)
    const filled = new Map<string, string>()
    const onBytes = progressOf(id, 'service', null)
    let done = 0
    for (const [disk, source] of diskVolumesByName(id)) {
      const target = targets.get(disk)
      // A container that mounts it would create it.
      if ((await engines[0].volumes.inspect(source)) === null) continue
      await assertDiskUnused(engines[0], getService(id)!, disk)
      if (target === undefined)
        throw new AppError('runtime_error', `the service got a disk ${disk} meanwhile: move it again`)
      let bytes = 0
      const copy = { source, target, labels: { 'deployer.service': id } }
      await copyVolume(engines, copy, (now) => onBytes(done + (bytes = now)), signal)
      done += bytes
      filled.set(disk, target)
    }
    return filled
  }

  /** Fills new volumes from the newest backups of the disks. Returns them by disk. */
  async #restoreDisks(move: MoveRow, signal: AbortSignal): Promise<Map<string, string>> {
    const { resource_id: service_id, to_node_id } = move
    const engine = this.#world.engineOf(to_node_id)
    const filled = new Map<string, string>()
    for (const [disk, volume] of volumesOf(move)) {
      const backup = newestBackup(service_id, disk)
      if (!backup) {
        if (!disksOf(getService(service_id)!).some(({ name }) => name === disk)) continue
        throw new AppError('runtime_error', `there is no backup of the disk ${disk}`)
      }
      await provideDiskBackup(backup, signal)
      await engine.volumes.create(volume, { 'deployer.service': service_id })
      await fillDisk(engine, { service_id, volume }, backup, signal)
      filled.set(disk, volume)
    }
    return filled
  }
}
