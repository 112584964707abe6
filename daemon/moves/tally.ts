import { createHash } from 'node:crypto'
import type { Header } from 'tar-stream'

/** What an archive holds, to tell whether another has the same: names, rights, owners and content of all files, in order. */
export class Tally {
  readonly #hash = createHash('sha256')
  readonly #onBytes: (bytes: number) => void
  #entries = 0
  #bytes = 0

  /** `onBytes` hears how many there were by now. */
  constructor(onBytes: (bytes: number) => void = () => {}) {
    this.#onBytes = onBytes
  }

  entry({ name, type, mode, uid, gid, size, linkname }: Header): void {
    this.#entries++
    this.#hash.update(`${JSON.stringify([name, type, mode, uid, gid, size, linkname ?? null])}\n`)
  }

  content(piece: Buffer): void {
    this.#bytes += piece.length
    this.#hash.update(piece)
    this.#onBytes(this.#bytes)
  }

  /** Returns how this differs from what was read from `source`, as a message; null if it does not. To be asked once. */
  differenceFrom(source: Tally): string | null {
    const [own, other] = [this.#hash.digest('hex'), source.#hash.digest('hex')]
    if (own === other) return null
    return `${source.#entries} files with ${source.#bytes} bytes were sent, ${this.#entries} with ${this.#bytes} bytes arrived`
  }
}
