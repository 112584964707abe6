import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { takeDataLock } from '#server/data-directory.ts'
import { AppError } from '#server/errors.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from '#server/files.ts'

/** What a data directory may hold besides the data of a server: the lock, and the running data plane. */
const NOT_DATA = new Set(['lock.db', 'lock.db-journal', 'proxy', 'lost+found', '.restoring'])
const DATA_PLANE = 'proxy'

/**
 * Where a backup is restored to. The restored files come into a folder next to the data directory, and replace it in one step
 * once they are complete; what was there before is kept. So a kill leaves the old data or the new or, between two renames,
 * none, in which no server starts (`prepareDataDirectory`).
 */
export class RestorePlace {
  readonly dataDirectory: string
  /** The folder for the restored files. */
  readonly folder: string
  readonly #lock: { release(): void }
  /** Whether the data directory is a file system of its own, which cannot be renamed. */
  readonly #isMounted: boolean

  private constructor(dataDirectory: string, isMounted: boolean, lock: { release(): void }) {
    this.dataDirectory = dataDirectory
    this.#isMounted = isMounted
    this.#lock = lock
    this.folder = isMounted ? join(dataDirectory, '.restoring') : `${dataDirectory}.restoring`
  }

  /**
   * Takes a data directory in which no server runs. Throws `conflict` when one does or, without `force`, when it has data.
   */
  static async open(dataDirectory: string, { force }: { force: boolean }): Promise<RestorePlace> {
    makePrivateDirectory(dataDirectory)
    const lock = takeDataLock(dataDirectory)
    if (!lock)
      throw new AppError('conflict', `a server runs on ${dataDirectory}: stop it first with deployer stop`)
    try {
      const isMounted = statSync(dataDirectory).dev !== statSync(dirname(dataDirectory)).dev
      const place = new RestorePlace(dataDirectory, isMounted, lock)
      await place.#takeDataPlaneBack()
      if (place.hasData && !force)
        throw new AppError(
          'conflict',
          `${dataDirectory} is not empty: restore into an empty one, or use --force, which keeps it as ${dataDirectory}.before-restore-…`,
        )
      if (place.hasData && isMounted)
        throw new AppError(
          'conflict',
          `${dataDirectory} is a file system of its own, so that it cannot be kept beside: move its contents away first`,
        )
      return place
    } catch (error) {
      lock.release()
      throw error
    }
  }

  get hasData(): boolean {
    const names = readdirSync(this.dataDirectory)
    // Without a database, what is there next to the folder was moved out of it by a restore that was interrupted.
    if (this.#isMounted && names.includes('.restoring') && !names.includes('deployer.db')) return false
    return names.some((name) => !NOT_DATA.has(name))
  }

  /** Makes an empty folder for the restored files; what an interrupted restore left is removed. */
  async begin(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
    await mkdir(this.folder, { mode: PRIVATE_DIRECTORY_MODE })
  }

  /** Puts the restored files in place. Returns where the former data is now; null if there was none. */
  async finish(): Promise<string | null> {
    if (this.#isMounted) return this.#moveUp()
    const { dataDirectory, folder } = this
    const before = this.hasData
      ? `${dataDirectory}.before-restore-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`
      : null
    // It stays in place, so that the new server finds the data plane that goes on serving.
    if (existsSync(join(dataDirectory, DATA_PLANE)))
      await rename(join(dataDirectory, DATA_PLANE), join(folder, DATA_PLANE))
    if (before === null) {
      for (const name of ['lock.db', 'lock.db-journal']) await rm(join(dataDirectory, name), { force: true })
      await rmdir(dataDirectory)
    } else await rename(dataDirectory, before)
    await rename(folder, dataDirectory).catch(async (error: unknown) => {
      if (before !== null) await rename(before, dataDirectory)
      throw error
    })
    await syncFolder(dirname(dataDirectory))
    return before
  }

  /** Removes what was restored so far. */
  async abandon(): Promise<void> {
    await this.#takeDataPlaneBack()
    await rm(this.folder, { recursive: true, force: true })
  }

  close(): void {
    this.#lock.release()
  }

  /** On a file system of its own the files are moved one by one, the database last: until then there is no server. */
  async #moveUp(): Promise<null> {
    const names = readdirSync(this.folder).filter((name) => name !== 'deployer.db')
    for (const name of [...names, 'deployer.db']) {
      await rm(join(this.dataDirectory, name), { recursive: true, force: true })
      await rename(join(this.folder, name), join(this.dataDirectory, name))
    }
    await rmdir(this.folder)
    await syncFolder(this.dataDirectory)
    return null
  }

  /** Returns the data plane's folder, if an interrupted restore had moved it. */
  async #takeDataPlaneBack(): Promise<void> {
    const moved = join(this.folder, DATA_PLANE)
    if (existsSync(moved) && !existsSync(join(this.dataDirectory, DATA_PLANE)))
      await rename(moved, join(this.dataDirectory, DATA_PLANE))
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
