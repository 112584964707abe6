import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { log, messageOf } from '../log.ts'

/** Who removes a data directory removes its files first, and who puts another in its place takes a moment. */
const GRACE_MS = 5_000

/** Whose socket it is, and what is done when that has no file any more. */
interface Owner {
  /** Nobody is connected, who could ask the process for anything. */
  isAlone(): boolean
  /** Its folder is there: gives the socket a file again. */
  reopen(): Promise<void>
  /** Its folder is gone, or another stands in its place: nobody can find the process by it ever again. */
  gone(): void
}

/**
 * Looks after the file of a control socket. Without one no control plane finds what serves here: it could be neither told
 * nor ended, and would keep its addresses from whoever comes next. The folder is seen from the working directory, the data
 * directory, so that one that was moved is not one that is gone.
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

  /** Begins to look, and looks again when the last who was connected has left. */
  start(): void {
    this.#watcher ??= this.#watchFolder()
    this.look()
  }

  /** Ends the watch: the file is not needed for now, or the process ends. Who calls `look` still has it looked for. */
  stop(): void {
    this.#watcher?.close()
    this.#watcher = null
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #watchFolder(): FSWatcher | null {
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => this.look())
      // It has seen its last: the next start makes another.
      watcher.on('error', () => {
        watcher.close()
        if (this.#watcher === watcher) this.#watcher = null
      })
      return watcher
    } catch (error) {
      // The host's watches are bounded (inotify(7)); a folder that is gone cannot be watched either.
      log('warn', 'the folder of the control socket is not watched', { error: messageOf(error) })
      return null
    }
  }

  /** Sees whether the file is there: for who is looked after by somebody connected, and needs no watch meanwhile. */
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
      log('error', 'the control socket cannot be opened again, which is tried on', {
        error: messageOf(error),
      })
      this.#lookLater()
    }
  }

  #isFolderGone(): boolean {
    const folder = statSync(this.#folder, { throwIfNoEntry: false })
    // One that something is mounted from is found after its removal too, without a name that leads there.
    return folder?.ino !== this.#inode || folder.nlink === 0
  }
}
