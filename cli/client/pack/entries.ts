/** A file, folder or link that is packed. Its path is relative to the packed folder, with slashes. */
export interface Entry {
  kind: 'file' | 'folder' | 'link'
  path: string
  /** Of a file, when it was found; 0 for the others. */
  size: number
  isExecutable: boolean
  /** In seconds since 1970. */
  modified: number
  /** Where a link leads; empty for the others. */
  target: string
}

/** What is in a folder that is deployed. */
export interface Contents {
  /** In the byte order of their paths. */
  entries: Entries
  files: number
  links: number
  /** Of all files. */
  bytes: number
  /** Sockets, pipes and devices. */
  unpackable: string[]
}

/** How many entries are objects at a time. */
const BATCH = 64

/**
 * A list of entries. As objects those of 100,000 files would take 30 MiB, and as much again for the collector, so all but the
 * last are kept as text.
 */
export class Entries {
  readonly #batches: Buffer[] = []
  #last: Entry[] = []

  add(entry: Entry): void {
    this.#last.push(entry)
    if (this.#last.length < BATCH) return
    this.#batches.push(Buffer.from(JSON.stringify(this.#last)))
    this.#last = []
  }

  *[Symbol.iterator](): Generator<Entry, void> {
    for (const batch of this.#batches) yield* JSON.parse(batch.toString()) as Entry[]
    yield* this.#last
  }
}
