import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { log, messageOf } from '../log.ts'

/** Who removes a data directory removes its files first, and who puts another in its place takes a moment. */
const GRACE_MS = 5_000

/** What is done when a socket has no file any more. */
interface Remedies {
  /** Its folder is there: gives it a file again. */
  reopen(): Promise<void>
  /** Its folder is gone, or another stands in its place: nobody can find the process by it ever again. */
  gone(): void
}

/**
 * Looks after the file of a control socket while nobody is connected to it. Without one no control plane finds what
 * serves here: it could be neither told nor ended, and would keep its addresses from whoever comes next. The folder is
 * seen from the working directory, the data directory, so that one that was moved is not one that is gone.
 */
export class SocketWatch {
  readonly #folder: string
  readonly #file: string
  readonly #inode: number
  readonly #remedies: Remedies
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(file: string, remedies: Remedies) {
    this.#folder = basename(dirname(file))
    this.#file = join(this.#folder, basename(file))
    this.#inode = statSync(this.#folder).ino
    this.#remedies = remedies
  }

  /** Begins to look, when somebody has left. */
  start(): void {
    if (this.#watcher) return
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#look())
      this.#watcher.on('error', () => {})
    } catch (error) {
      // The host's watches are bounded (inotify(7)); a folder that is gone cannot be watched either.
      log('warn', 'the folder of the control socket is not watched', { error: messageOf(error) })
    }
    this.#look()
  }

  /** Ends looking: somebody is connected, or the process ends. */
  stop(): void {
    this.#watcher?.close()
    this.#watcher = null
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (!existsSync(this.#file)) this.#timer ??= setTimeout(() => void this.#act(), GRACE_MS)
  }

  async #act(): Promise<void> {
    this.#timer = undefined
    if (statSync(this.#folder, { throwIfNoEntry: false })?.ino !== this.#inode) return this.#remedies.gone()
    if (existsSync(this.#file)) return
    await this.#remedies.reopen().catch((error: unknown) => {
      log('error', 'the control socket cannot be opened again', { error: messageOf(error) })
    })
  }
}
