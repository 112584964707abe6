import type { OwnerKind } from '#server/backups/owners.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { BackupCopies } from './copies.ts'
import { Backups, type Dump } from './making.ts'
import { BackupSchedule } from './schedule.ts'

/** Everything that is done about backups of datastores and disks: when they are due, their files, and their copies. */
export class BackupWork {
  readonly #making: Backups
  readonly #copies = new BackupCopies()
  readonly #schedule = new BackupSchedule()

  /** `dumps` says how the data of each kind is read. */
  constructor(world: World, dumps: Record<OwnerKind, Dump>) {
    this.#making = new Backups(world, dumps)
  }

  /** Fails the backups that the last run of the server left in progress. */
  recover(): void {
    this.#making.recover()
  }

  /** The tasks; `wake` runs one of them by its name. */
  tasks(wake: (name: string) => void): Task[] {
    return [
      this.#making.task(() => wake('backups')),
      this.#copies.task(() => wake('copies of backups')),
      this.#schedule.task(() => wake('backup schedule')),
    ]
  }

  /** Requests a pass soon, for example after the engine came back. */
  look(): void {
    this.#making.look()
  }

  /** Whether a container of this name belongs to a backup in progress. */
  isUnderWay(name: string): boolean {
    return this.#making.isUnderWay(name)
  }

  /** Cancels the work on the backups of a datastore or a disk that is being deleted, and waits until it has ended. */
  async cancel(ownerId: string): Promise<void> {
    await Promise.all([this.#making.cancel(ownerId), this.#copies.cancel(ownerId)])
  }

  stop(): void {
    this.#making.stop()
    this.#copies.stop()
    this.#schedule.stop()
  }
}
