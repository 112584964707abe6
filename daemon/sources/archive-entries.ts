import { posix } from 'node:path'
import type { Header } from 'tar-stream'
import { BuildFailure } from '#plans/index.ts'

/** Large repositories have tens of thousands of files, and each costs an inode and up to five system calls. */
const MAX_ENTRIES = 200_000
/** Linux accepts no longer path (limits.h, PATH_MAX) or part of one (NAME_MAX). */
const MAX_PATH_BYTES = 4_096
const MAX_NAME_BYTES = 255
/** How deep folders may be nested, since each part is checked for each entry. Packages inside packages reach 60. */
const MAX_DEPTH = 256
/** All paths together; those of 200,000 files of a tree with its packages have 20 MiB. */
const MAX_PATHS_BYTES = 64 * 1024 * 1024
/** The paths of links are remembered, so that nothing is written through one. */
const MAX_LINK_PATHS_BYTES = 16 * 1024 * 1024

/** An entry that was found harmless. Paths are relative to the archive's root, without a trailing slash. */
export type Entry =
  | { kind: 'file'; path: string; mode: number; size: number }
  | { kind: 'directory'; path: string; mode: number }
  | { kind: 'symlink'; path: string; target: string }
  | { kind: 'hardlink'; path: string; target: string }

/** Judges the entries of one archive, in order. */
export class EntryRules {
  #entries = 0
  #pathBytes = 0
  #linkBytes = 0
  readonly #links = new Set<string>()

  /** The entry, or null for the root itself and for headers without content. Throws BuildFailure for what is not allowed. */
  judge(header: Header): Entry | null {
    this.#entries += 1
    if (this.#entries > MAX_ENTRIES) {
      throw new BuildFailure(
        `the archive has more than ${MAX_ENTRIES} entries: leave out what the build does not need`,
      )
    }
    this.#pathBytes += header.name.length
    if (this.#pathBytes > MAX_PATHS_BYTES) {
      throw new BuildFailure(
        `the archive has more than ${MAX_PATHS_BYTES / 1024 ** 2} MiB of path names in total: leave out what the build does not need`,
      )
    }
    const path = cleanPath(header.name)
    const type = typeOf(header, path)
    if (path === '') return null
    this.#refuseThroughLink(path)
    const mode = header.mode
    if (type === 'directory') return { kind: 'directory', path, mode }
    if (type === 'file') {
      this.#links.delete(path)
      return { kind: 'file', path, mode, size: header.size ?? 0 }
    }
    return this.#link(type, path, header.linkname ?? '')
  }

  #link(kind: 'symlink' | 'hardlink', path: string, linkname: string): Entry {
    const base = kind === 'symlink' ? posix.dirname(path) : '.'
    const target = kind === 'symlink' ? linkname : linkname.replace(/^(\.\/)+/, '')
    if (target === '')
      throw new BuildFailure(`${quote(path)} is a link with an empty target: remove it from the archive`)
    const reached = posix.normalize(posix.join(base, target))
    if (target.startsWith('/') || reached === '..' || reached.startsWith('../')) {
      throw new BuildFailure(
        `${quote(path)} is a link to ${quote(target)}, outside the archive: make it point inside, or leave it out`,
      )
    }
    if (kind === 'hardlink') {
      this.#refuseThroughLink(reached)
      return { kind, path, target: reached }
    }
    this.#linkBytes += path.length
    if (this.#linkBytes > MAX_LINK_PATHS_BYTES) {
      throw new BuildFailure(
        'the archive has too many symbolic links: leave out what the build does not need',
      )
    }
    this.#links.add(path)
    return { kind, path, target }
  }

  #refuseThroughLink(path: string): void {
    if (this.#links.size === 0) return
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      const parent = path.slice(0, end)
      if (this.#links.has(parent)) {
        throw new BuildFailure(
          `${quote(path)} is inside the link ${quote(parent)}: pack the archive again without it`,
        )
      }
    }
  }
}

/** The path relative to the root, without `./` and doubled slashes. Throws for a path that leaves the root. */
function cleanPath(name: string): string {
  if (name.startsWith('/')) {
    throw new BuildFailure(
      `${quote(name)} has an absolute path: pack the archive with relative paths (tar -C folder .)`,
    )
  }
  if (name.includes('\0')) throw new BuildFailure(`${quote(name)} has a name with a NUL character: rename it`)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) {
    throw new BuildFailure(
      `${quote(name)} leads out of the archive with "..": pack the archive from inside its folder`,
    )
  }
  const path = parts.join('/')
  if (parts.length > MAX_DEPTH)
    throw new BuildFailure(
      `${quote(name)} is nested more than ${MAX_DEPTH} folders deep: nest it less deeply`,
    )
  if (
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)
  ) {
    throw new BuildFailure(`${quote(name)} has a name that is too long for a file system: shorten it`)
  }
  return path
}

function typeOf(header: Header, path: string): Entry['kind'] {
  const records = (header.pax ?? {}) as Record<string, string>
  const sparse = Object.keys(records).some((key) => key.startsWith('GNU.sparse.'))
  if (sparse)
    throw new BuildFailure(`${quote(path)} is stored as a sparse file: pack the archive without --sparse`)
  switch (header.type as string | null | undefined) {
    case 'file':
    case 'contiguous-file':
      // Old programs mark directories only by a trailing slash (POSIX pax, "ustar Interchange Format", typeflag 0).
      return header.name.endsWith('/') ? 'directory' : 'file'
    case 'directory':
      return 'directory'
    case 'symlink':
      return 'symlink'
    case 'link':
      return 'hardlink'
    case 'character-device':
    case 'block-device':
      throw new BuildFailure(
        `${quote(path)} is a device: leave it out (only files, folders and links can be uploaded)`,
      )
    case 'fifo':
      throw new BuildFailure(
        `${quote(path)} is a named pipe: leave it out (only files, folders and links can be uploaded)`,
      )
    default:
      throw new BuildFailure(
        `${quote(path)} is an entry of an unknown type: pack the archive again with tar -czf`,
      )
  }
}

/** How much of a name messages show. */
const SHOWN_NAME_CHARACTERS = 200

/** A name for a message: control characters are escaped, and it is cut if it is long. */
function quote(name: string): string {
  return JSON.stringify(
    name.length > SHOWN_NAME_CHARACTERS ? `${name.slice(0, SHOWN_NAME_CHARACTERS)}...` : name,
  )
}
