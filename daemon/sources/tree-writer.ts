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

/** Without these permissions a file could not be packed for the build, and a folder could not be filled or removed. */
const OWNER_OF_FILE = 0o600
const OWNER_OF_DIRECTORY = 0o700
/** Set-user-id, set-group-id and sticky are left out: nothing in a source tree needs them. */
const PERMISSION_BITS = 0o777
/** The most characters of known folders; when exceeded, the set is cleared and folders are checked again. */
const MAX_KNOWN_BYTES = 16 * 1024 * 1024

/**
 * Writes entries below a directory that nothing else writes to. Its system calls block, so it must run in a process that
 * does nothing else, where they take a third of the time.
 */
export class TreeWriter {
  readonly #root: string
  /** Directories that are known to be real ones; none is ever replaced. */
  readonly #known = new Set<string>()
  #knownBytes = 0

  constructor(root: string) {
    this.#root = root
  }

  /** Throws BuildFailure for an entry that cannot be written. */
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
        `${JSON.stringify(relative)} is a link to ${JSON.stringify(target)}, which does not come before it in the archive: pack the archive again`,
      )
    }
    linkSync(source, join(this.#root, relative))
  }
}

/** Makes room for an entry: a later one with the same name wins, as with tar, but never replaces a folder. */
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
    // Programs that do not support modes write 0.
    fchmodSync(file, mode === 0 ? 0o644 : (mode & PERMISSION_BITS) | OWNER_OF_FILE)
  } finally {
    closeSync(file)
  }
}

function bothFileAndFolder(relative: string): BuildFailure {
  return new BuildFailure(
    `${JSON.stringify(relative)} is both a file and a folder in the archive: rename one of them`,
  )
}

function explain(error: unknown, path: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') return error
  return new BuildFailure(
    `${JSON.stringify(path)} has a name that is too long for the file system: shorten it`,
    {
      cause: error,
    },
  )
}
