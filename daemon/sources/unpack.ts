import { constants, createReadStream } from 'node:fs'
import { chmod, link, lstat, mkdir, open, readdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BuildFailure } from '../builds/failure.ts'
import { ArchiveFault, type Entry } from './archive-entries.ts'
import { ArchiveReader, type EntryContent } from './archive-reader.ts'

/** Without its owner's rights a file could not be packed for the build, a folder not be filled or removed. */
const OWNER_OF_FILE = 0o600
const OWNER_OF_DIRECTORY = 0o700
/** Set-user-id, set-group-id and sticky are left out: nothing in a source tree needs them. */
const PERMISSION_BITS = 0o777

/** Entries that macOS and `git archive` add beside the folder that was packed. */
const COMPANIONS = /^(\._.*|\.DS_Store|__MACOSX|pax_global_header)$/

/**
 * Unpacks an archive into `directory`, which is made when it is missing and must be empty; when all of it lies in one top folder, that
 * folder's content is what `directory` holds. Nothing is ever written outside of it or through a link. Throws
 * BuildFailure with the entry's name for a bad archive; what was unpacked until then is removed.
 */
export async function unpackArchive(path: string, directory: string, signal: AbortSignal): Promise<void> {
  await mkdir(directory, { recursive: true, mode: OWNER_OF_DIRECTORY })
  const tree = new TreeWriter(directory)
  const reader = new ArchiveReader((entry, content) => tree.write(entry, content))
  try {
    for await (const chunk of createReadStream(path, { signal, highWaterMark: 256 * 1024 }))
      await reader.feed(chunk as Buffer)
    await reader.finish()
    await tree.finish()
    await hoistOnlyFolder(directory)
  } catch (error) {
    await reader.close()
    await rm(directory, { recursive: true, force: true })
    throw error instanceof ArchiveFault ? new BuildFailure(error.message, { cause: error }) : error
  }
}

async function hoistOnlyFolder(directory: string): Promise<void> {
  const top = (await readdir(directory, { withFileTypes: true })).filter(
    (entry) => !COMPANIONS.test(entry.name),
  )
  const [only] = top
  if (top.length !== 1 || !only?.isDirectory()) return
  const aside = `${directory}.hoisted`
  await rm(aside, { recursive: true, force: true })
  await rename(join(directory, only.name), aside)
  await rm(directory, { recursive: true })
  await rename(aside, directory)
}

/** Writes entries below one directory that nobody else writes to. Call `finish` after the last. */
export class TreeWriter {
  readonly #root: string
  /** Directories that are known to be real ones; none is ever replaced. */
  readonly #directories = new Set<string>()
  /** Modes are given last: a folder without write permission must be filled first. */
  readonly #modes = new Map<string, number>()

  constructor(root: string) {
    this.#root = root
  }

  async write(entry: Entry, content: EntryContent): Promise<void> {
    const path = join(this.#root, entry.path)
    try {
      if (entry.kind === 'directory') {
        await this.#makeDirectory(entry.path)
        if (entry.mode !== 0) this.#modes.set(path, (entry.mode & PERMISSION_BITS) | OWNER_OF_DIRECTORY)
      } else {
        await this.#makeDirectory(dirname(entry.path))
        await this.#clear(path, entry.path)
        if (entry.kind === 'file') return await writeFile(path, entry.mode, content)
        if (entry.kind === 'symlink') await symlink(entry.target, path)
        else await this.#hardlink(entry.path, entry.target)
      }
      content.resume()
    } catch (error) {
      throw explain(error, entry.path)
    }
  }

  async finish(): Promise<void> {
    for (const [path, mode] of this.#modes) await chmod(path, mode)
  }

  async #makeDirectory(relative: string): Promise<void> {
    if (relative === '.' || this.#directories.has(relative)) return
    await this.#makeDirectory(dirname(relative))
    const path = join(this.#root, relative)
    const existing = await lstat(path).catch(() => null)
    if (existing === null) await mkdir(path, { mode: 0o755 })
    else if (!existing.isDirectory())
      throw new ArchiveFault(`${JSON.stringify(relative)} is both a file and a folder in the archive`)
    this.#directories.add(relative)
  }

  /** A later entry of the same name wins, as with tar; it never takes a folder's place. */
  async #clear(path: string, relative: string): Promise<void> {
    const existing = await lstat(path).catch(() => null)
    if (existing === null) return
    if (existing.isDirectory())
      throw new ArchiveFault(`${JSON.stringify(relative)} is both a file and a folder in the archive`)
    await unlink(path)
  }

  async #hardlink(relative: string, target: string): Promise<void> {
    await this.#makeDirectory(dirname(target))
    const source = join(this.#root, target)
    const existing = await lstat(source).catch(() => null)
    if (!existing?.isFile()) {
      throw new ArchiveFault(
        `${JSON.stringify(relative)} is a link to ${JSON.stringify(target)}, which the archive does not hold before it`,
      )
    }
    await link(source, join(this.#root, relative))
  }
}

async function writeFile(path: string, mode: number, content: EntryContent): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const file = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, OWNER_OF_FILE)
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) await file.writeFile(chunk)
    // A mode of 0 is what programs write that know no modes.
    await file.chmod(mode === 0 ? 0o644 : (mode & PERMISSION_BITS) | OWNER_OF_FILE)
  } finally {
    await file.close()
  }
}

function explain(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENAMETOOLONG')
    return new ArchiveFault(
      `${JSON.stringify(path)} has a name that is too long for the file system; shorten it`,
      { cause: error },
    )
  return error
}
