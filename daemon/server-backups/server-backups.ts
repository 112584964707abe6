import { keepPart } from '#server/backups/part-file.ts'
import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { assertRoom } from '#server/disk-use/file-systems.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import {
  databaseCopyPath,
  removeServerBackupFiles,
  removeStrayServerBackupFiles,
  serverBackupPath,
} from '#server/server-backups/files.ts'
import { makeServerBackup } from '#server/server-backups/make.ts'
import {
  failServerBackup,
  recordServerBackupFile,
  recordServerBackupProgress,
  removeSurplusServerBackups,
} from '#server/server-backups/operations.ts'
import { savedSettings } from '#server/options/saved-settings.ts'
import {
  getServerBackup,
  runningServerBackups,
  serverBackupInProgress,
  type ServerBackupRow,
} from '#server/server-backups/store.ts'
import { packAside } from '#server/server-backups/packing-thread.ts'
import { progressOfServerBackup } from '#server/server-backups/progress.ts'
import { isBeingVerified } from '#server/server-backups/verify.ts'
import type { World } from '../world.ts'
import { Background } from '../work/background.ts'
import { clockGuard } from '../work/clock-guard.ts'
import type { Task } from '../work/driver.ts'
import { ServerBackupCopies } from './copies.ts'
import { backUpData } from './data.ts'
import { reportIfOverdue, requestIfDue } from './due.ts'

const log = logger('server backups')

/** Interval of a pass even when nothing is due, so that a changed clock is noticed. */
const PERIOD_MS = 30_000
/** A backup that takes longer is assumed to hang. */
const LONGEST_MS = 24 * 3_600_000
/** Why there is no copy although there is a bucket. */
const NOT_SEALED =
  'it was not copied to the bucket, since it contains secret.key: start the server with --backup-passphrase-file'

/** Makes the server backups that were requested or are due, copies them, and removes those beyond what is kept. */
export class ServerBackups {
  readonly #world: World
  readonly #work = new Background()
  readonly #guard = clockGuard()
  readonly #copies = new ServerBackupCopies(() => this.#wake())
  readonly #stopListening: () => void
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== 'server') return
      const row = getServerBackup(id)
      if (this.#work.has(id) && row?.status !== 'running') void this.#work.cancel(id)
      // Progress is no reason to look.
      if (row?.status !== 'running' || progressOfServerBackup(row) === 0 || row.sha256 !== null) this.#wake()
    })
  }

  /** Fails the backup that the last run of the server left in progress; its files are removed in the first pass. */
  recover(): void {
    for (const { id, sha256 } of runningServerBackups())
      if (sha256 === null)
        failServerBackup(id, 'the server stopped while the backup was being made: make another one')
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'server backups', everyMs: PERIOD_MS, run: () => this.#look() }
  }

  stop(): void {
    this.#stopListening()
    clearTimeout(this.#timer)
    this.#work.stop()
    this.#copies.stop()
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    const heldMs = this.#guard.heldMs()
    const nextMs = heldMs > 0 ? heldMs : requestIfDue()
    if (heldMs === 0) reportIfOverdue()
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.min(PERIOD_MS, nextMs)))
    const row = serverBackupInProgress()
    if (row) this.#begin(row)
    this.#copies.look()
    await removeSurplusServerBackups()
    await removeStrayServerBackupFiles((id) => this.#work.has(id) || isBeingVerified(id))
  }

  #begin(row: ServerBackupRow): void {
    const { id } = row
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: async (signal) => {
        try {
          await make(this.#world, row, AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]))
        } catch (error) {
          await removeServerBackupFiles(id)
          throw error
        }
      },
      onFailure: (error) => {
        const reason = messageOf(error)
        failServerBackup(id, reason)
        log.warn('a server backup failed', { backup: id, error: reason })
      },
      onEnd: () => this.#wake(),
    })
  }
}

async function make(
  world: World,
  { id, datastores, disks, logs }: ServerBackupRow,
  signal: AbortSignal,
): Promise<void> {
  const { options, version } = useContext()
  const faults = await backUpData(world, { datastore: datastores === 1, disk: disks === 1 }, signal)
  const passphrase = options.backupPassphrase
  const path = serverBackupPath(id)
  const file = await makeServerBackup(
    {
      dataDirectory: options.dataDirectory,
      databaseCopy: databaseCopyPath(id),
      includes: { datastores: datastores === 1, disks: disks === 1, logs: logs === 1 },
      version,
      settings: options.given,
      savedSettings: savedSettings(options.dataDirectory),
      // A full disk would hold up everything else.
      assertRoom: (bytes) =>
        assertRoom(options.dataDirectory, bytes, 'it may take', 'free some space, or keep fewer'),
    },
    (source) => {
      const report = (bytes: number): void =>
        recordServerBackupProgress(id, Math.min(99, Math.floor((100 * bytes) / source.manifest.bytes)))
      return packAside({ source, passphrase, path }, report, signal)
    },
  )
  signal.throwIfAborted()
  await keepPart(path)
  if (options.backupBucket !== null && passphrase === null) faults.push(NOT_SEALED)
  const error = faults.length === 0 ? null : faults.join('; ')
  const isKept = recordServerBackupFile(id, { ...file, encrypted: passphrase !== null, error })
  if (isKept) log.info('a server backup was made', { backup: id, bytes: file.size_bytes })
  else await removeServerBackupFiles(id)
}
