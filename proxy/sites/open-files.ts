import { close, constants, open } from 'node:fs'

/** Different files that one worker sends at a time; however many clients read one, it is open once. */
const MAX_OPEN_FILES = 4_096

interface OpenFile {
  opening: Promise<number>
  readers: number
}

/** The files that are open to be sent, each for all its readers, who read at positions of their own. */
export class OpenFiles {
  #files = new Map<string, OpenFile>()

  /** The descriptor of a file, which must not be a link. Each call that succeeds is followed by one of `release`. */
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

  /** Its last reader closes a file. No read of it may be under way. */
  release(path: string): void {
    const file = this.#files.get(path)!
    if (this.#leave(path, file)) void file.opening.then((descriptor) => close(descriptor, () => {}))
  }

  #open(path: string): OpenFile {
    if (this.#files.size >= MAX_OPEN_FILES) throw new Error(`${MAX_OPEN_FILES} files are open already`)
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
