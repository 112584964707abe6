import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { BuildFailure } from './failure.ts'

/** The largest manifest, lock file or entry point that is read. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** How much of a file is read to see what it is; a licence may come first. */
const HEAD_BYTES = 64 * 1024

/** A folder with more entries is not where a plan finds anything. */
const MAX_LISTED = 10_000

/** Enough names to see that this is the wrong folder. */
const SHOWN_NAMES = 12

/** How many resolved names are cached; a large workspace asks for more, each of them once. */
const MAX_KEPT = 1_000

/** A read-only view of a source tree that nothing changes in the meantime. Links are followed only if they stay inside. */
export class Tree {
  readonly #directory: string
  /** Plans ask for the same names again and again; each is resolved once. */
  readonly #found = new Map<string, Promise<string | null>>()
  #root: Promise<string> | undefined

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Returns the tree below one of its folders. */
  folder(path: string): Tree {
    return new Tree(join(this.#directory, path))
  }

  /** Whether there is a file of that name. */
  async hasFile(path: string): Promise<boolean> {
    const real = await this.#resolve(path)
    return real !== null && (await lstat(real)).isFile()
  }

  /** Whether there is a folder of that name. */
  async hasFolder(path: string): Promise<boolean> {
    const real = await this.#resolve(path)
    return real !== null && (await lstat(real)).isDirectory()
  }

  /** Whether there is a file or a folder of that name. */
  async has(path: string): Promise<boolean> {
    return (await this.hasFile(path)) || (await this.hasFolder(path))
  }

  /** Returns the text of a file, or null when there is none. Throws BuildFailure when it has more than `limitBytes`. */
  async readText(path: string, limitBytes: number = MAX_TEXT_BYTES): Promise<string | null> {
    const real = await this.#resolve(path)
    // Only a regular file may be opened: opening a pipe would wait for its writer.
    if (real === null || !(await lstat(real)).isFile()) return null
    const file = await open(real)
    try {
      if ((await file.stat()).size > limitBytes) {
        throw new BuildFailure(`${path} is larger than ${limitBytes} bytes: make it smaller`)
      }
      return textOf(await file.readFile())
    } finally {
      await file.close()
    }
  }

  /** Whether a file begins with a byte order byte order mark of UTF-16, which can be decoded here, but not by every tool. */
  async isUtf16(path: string): Promise<boolean> {
    const real = await this.#resolve(path)
    if (real === null || !(await lstat(real)).isFile()) return false
    const file = await open(real)
    try {
      const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
      return utf16Of(buffer) !== undefined
    } finally {
      await file.close()
    }
  }

  /** Returns the first bytes of a file as text, however large it is; null when there is none. */
  async readHead(path: string): Promise<string | null> {
    const real = await this.#resolve(path)
    if (real === null || !(await lstat(real)).isFile()) return null
    const file = await open(real)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      return textOf(buffer.subarray(0, bytesRead))
    } finally {
      await file.close()
    }
  }

  /** Returns the names in a folder (`.` is the root), sorted; none when it is missing. Folders end in a slash. */
  async list(path: string): Promise<string[]> {
    const real = await this.#resolve(path)
    if (real === null || !(await lstat(real)).isDirectory()) return []
    const entries = await readdir(real, { withFileTypes: true })
    return entries
      .slice(0, MAX_LISTED)
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .toSorted()
  }

  /** Describes the contents of a folder in words. */
  async describe(path = '.'): Promise<string> {
    const names = await this.list(path)
    if (names.length === 0) return 'the empty folder'
    const more = names.length > SHOWN_NAMES ? ', ...' : ''
    return `the folder with ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`
  }

  #resolve(path: string): Promise<string | null> {
    const known = this.#found.get(path)
    if (known !== undefined) return known
    const found = this.#find(path)
    if (this.#found.size < MAX_KEPT) this.#found.set(path, found)
    return found
  }

  async #find(path: string): Promise<string | null> {
    const root = await (this.#root ??= realpath(this.#directory))
    const real = await realpath(join(root, path)).catch(() => null)
    if (real === null) return null
    const inside = relative(root, real)
    return inside === '..' || inside.startsWith('../') ? null : real
  }
}

/**
 * Decodes a file by its byte order mark: PowerShell writes the output of programs as UTF-16, so some requirements.txt files
 * are UTF-16, and pip reads them.
 */
function textOf(bytes: Buffer): string {
  // The decoder removes the byte order mark.
  return new TextDecoder(utf16Of(bytes) ?? 'utf-8').decode(bytes)
}

function utf16Of(bytes: Buffer): string | undefined {
  return UTF16_MARKS.find(([first, second]) => bytes[0] === first && bytes[1] === second)?.[2]
}

const UTF16_MARKS = [
  [0xff, 0xfe, 'utf-16le'],
  [0xfe, 0xff, 'utf-16be'],
] as const
