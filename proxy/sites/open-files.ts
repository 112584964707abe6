import { close, constants, open } from 'node:fs'

/** Max different files that one worker sends at a time. A file is open only once, however many clients read it. */
const MAX_OPEN_FILES = 4_096

interface OpenFile {
  opening: Promise<number>
  readers: number
}

/** The files that are being sent. Each is open once for all its readers, who read at positions of their own. */
export class OpenFiles {
  #files = new Map<string, OpenFile>()

  /** Returns the descriptor of a file, which must not be a link. Each successful call must be followed by `release`. */
  async acquire(path: string): Promise<number> {
    const file = this.#files.get(path) ?? this.#open(path)
    file.readers++
    try {
      return await file.opening
    } catch (error) {
      this.#leave(path, file)
      throw error
    }
  }

  /** Closes a file after its last reader. No read of it may be under way. */
  release(path: string): void {
    const file = this.#files.get(path)!
    if (this.#leave(path, file)) void file.opening.then((descriptor) => close(descriptor, () => {}))
  }

  #open(path: string): OpenFile {
    if (this.#files.size >= MAX_OPEN_FILES) throw new Error(`${MAX_OPEN_FILES} files are already open`)
    const opening = new Promise<number>((resolve, reject) => {
      open(path, constants.O_RDONLY | constants.O_NOFOLLOW, (error, descriptor) => {
        if (error) reject(error)
        else resolve(descriptor)
      })
    })
    const file = { opening, readers: 0 }
    this.#files.set(path, file)
    return file
  }

  #leave(path: string, file: OpenFile): boolean {
    if (--file.readers > 0) return false
    this.#files.delete(path)
    return true
  }
}
