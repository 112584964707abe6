import {
  closeSync,
  constants,
  fchmodSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { BuildFailure } from '#plans/index.ts'
import type { Entry } from './archive-entries.ts'
import type { EntryContent } from './archive-reader.ts'

/** Without its owner's rights a file could not be packed for the build, a folder not be filled or removed. */
const OWNER_OF_FILE = 0o600
const OWNER_OF_DIRECTORY = 0o700
/** Set-user-id, set-group-id and sticky are left out: nothing in a source tree needs them. */
const PERMISSION_BITS = 0o777
/** Of folders that are known; when it is full it is emptied, and they are looked at anew. */
const MAX_KNOWN_BYTES = 16 * 1024 * 1024

/**
 * Writes entries below one directory that nobody else writes to. Its system calls block: it is for a process that does
 * nothing else, where they take a third of the time.
 */
export class TreeWriter {
  readonly #root: string
  /** Directories that are known to be real ones; none is ever replaced. */
  readonly #known = new Set<string>()
  #knownBytes = 0

  constructor(root: string) {
    this.#root = root
  }

  /** Throws BuildFailure for an entry that cannot be. */
  async write(entry: Entry, content: EntryContent): Promise<void> {
    const path = join(this.#root, entry.path)
    try {
      if (entry.kind === 'directory') {
        this.#makeDirectory(entry.path)
        if (entry.mode !== 0) chmodSync(path, (entry.mode & PERMISSION_BITS) | OWNER_OF_DIRECTORY)
      } else {
        this.#makeDirectory(dirname(entry.path))
        clear(path, entry.path)
        if (entry.kind === 'file') return await writeFile(path, entry.mode, content)
        if (entry.kind === 'symlink') symlinkSync(entry.target, path)
        else this.#hardlink(entry.path, entry.target)
      }
      content.resume()
    } catch (error) {
      throw explain(error, entry.path)
    }
  }

  #makeDirectory(relative: string): void {
    if (relative === '.' || this.#known.has(relative)) return
    this.#makeDirectory(dirname(relative))
    const path = join(this.#root, relative)
    const existing = lstatSync(path, { throwIfNoEntry: false })
    if (existing === undefined) mkdirSync(path, { mode: 0o755 })
    else if (!existing.isDirectory()) throw bothFileAndFolder(relative)
    this.#knownBytes += relative.length
    if (this.#knownBytes > MAX_KNOWN_BYTES) {
      this.#known.clear()
      this.#knownBytes = relative.length
    }
    this.#known.add(relative)
  }

  #hardlink(relative: string, target: string): void {
    this.#makeDirectory(dirname(target))
    const source = join(this.#root, target)
    if (!lstatSync(source, { throwIfNoEntry: false })?.isFile()) {
      throw new BuildFailure(
        `${JSON.stringify(relative)} is a link to ${JSON.stringify(target)}, which the archive does not hold before it`,
      )
    }
    linkSync(source, join(this.#root, relative))
  }
}

/** A later entry of the same name wins, as with tar; it never takes a folder's place. */
function clear(path: string, relative: string): void {
  const existing = lstatSync(path, { throwIfNoEntry: false })
  if (existing === undefined) return
  if (existing.isDirectory()) throw bothFileAndFolder(relative)
  unlinkSync(path)
}

async function writeFile(path: string, mode: number, content: EntryContent): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const file = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, OWNER_OF_FILE)
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      for (let written = 0; written < chunk.length;) written += writeSync(file, chunk, written)
    }
    // A mode of 0 is what programs write that know no modes.
    fchmodSync(file, mode === 0 ? 0o644 : (mode & PERMISSION_BITS) | OWNER_OF_FILE)
  } finally {
    closeSync(file)
  }
}

function bothFileAndFolder(relative: string): BuildFailure {
  return new BuildFailure(`${JSON.stringify(relative)} is both a file and a folder in the archive`)
}

function explain(error: unknown, path: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') return error
  return new BuildFailure(
    `${JSON.stringify(path)} has a name that is too long for the file system; shorten it`,
    {
      cause: error,
    },
  )
}
