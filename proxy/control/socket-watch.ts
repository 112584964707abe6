import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { log, messageOf } from '../log.ts'

/** A data directory is removed file by file, its folder last, and replacing one takes a moment. */
const GRACE_MS = 5_000

/** The process that owns the socket. */
interface Owner {
  /** Whether no peer is connected that could still control the process. */
  isAlone(): boolean
  /** Called when the folder is there but the file is not: listens on a new socket file. */
  reopen(): Promise<void>
  /** Called when the folder was removed or replaced: nothing can ever find the process by it again. */
  gone(): void
}

/**
 * Watches the file of a control socket and restores it. Without the file no control plane finds this process: it could not
 * be controlled or stopped, and would keep its addresses from its successor. Paths are relative to the working directory,
 * which is the data directory, so a data directory that was moved does not count as removed.
 */
export class SocketWatch {
  readonly #folder: string
  readonly #file: string
  readonly #inode: number
  readonly #owner: Owner
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(file: string, owner: Owner) {
    this.#folder = basename(dirname(file))
    this.#file = join(this.#folder, basename(file))
    this.#inode = statSync(this.#folder).ino
    this.#owner = owner
  }

  /** Starts the watch, or resumes it when the last peer has disconnected. */
  start(): void {
    this.#watcher ??= this.#watchFolder()
    this.look()
  }

  /** Stops the watch: the file is not needed for now, or the process ends. `look` still works. */
  stop(): void {
    this.#watcher?.close()
    this.#watcher = null
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #watchFolder(): FSWatcher | null {
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.look())
      // A broken watcher reports nothing more; the next `start` creates another.
      watcher.on('error', () => {
        watcher.close()
        if (this.#watcher === watcher) this.#watcher = null
      })
      return watcher
    } catch (error) {
      // The kernel limits the number of watches (inotify(7)), and a folder that is gone cannot be watched.
      log('warn', 'cannot watch the folder of the control socket', { error: messageOf(error) })
      return null
    }
  }

  /** Checks once whether the file is there. A process with a connected peer calls this instead of watching. */
  look(): void {
    if (!existsSync(this.#file)) this.#lookLater()
  }

  #lookLater(): void {
    this.#timer ??= setTimeout(() => void this.#act(), GRACE_MS)
  }

  async #act(): Promise<void> {
    this.#timer = undefined
    try {
      if (this.#isFolderGone()) {
        if (!this.#owner.isAlone()) return
        this.stop()
        this.#owner.gone()
      } else if (!existsSync(this.#file)) await this.#owner.reopen()
    } catch (error) {
      log('error', 'cannot reopen the control socket; will retry', {
        error: messageOf(error),
      })
      this.#lookLater()
    }
  }

  #isFolderGone(): boolean {
    const folder = statSync(this.#folder, { throwIfNoEntry: false })
    // A removed folder that is a mount source is still found by its inode; it has no name left that leads to it.
    return folder?.ino !== this.#inode || folder.nlink === 0
  }
}
