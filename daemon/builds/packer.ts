import { createReadStream, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Header, Pack } from 'tar-stream'
import { BuildFailure } from '#plans/index.ts'
import type { IgnoreRules, Verdict } from './dockerignore.ts'
import { withLinuxEnds } from './line-ends.ts'

/** Files up to this size are read at once, which is faster for many small files than a stream each. */
const SMALL_FILE_BYTES = 256 * 1024
/** Next to the files of a crate that Cargo vendors: Cargo does not build the crate if a file has another checksum. */
const CHECKSUMS = '.cargo-checksum.json'
/** As many file names as fit in a log line. */
const MAX_LISTED = 10

/** Writes a tree to a tar archive. Its system calls block, so it must run in a process that does nothing else. */
export class Packer {
  readonly #directory: string
  /** The folder of the archive that the tree goes into; null means the root. */
  readonly #folder: string | null
  readonly #archive: Pack
  readonly #rules: IgnoreRules
  /** Files whose content differs from the tree's, or that it lacks; the context has them whatever the rules say. */
  readonly #replaced: Map<string, string>
  /** One time for all files: it is not part of the engine's cache key, but of the ETags that web servers compute. */
  readonly #modified = new Date()
  readonly #folders = new Set<string>()
  /** The first scripts whose line endings were converted. */
  readonly #rewritten: string[] = []

  constructor(
    directory: string,
    folder: string | null,
    archive: Pack,
    rules: IgnoreRules,
    replaced: Map<string, string>,
  ) {
    this.#directory = directory
    this.#folder = folder
    this.#archive = archive
    this.#rules = rules
    this.#replaced = replaced
  }

  /** Returns notes for the build's log. */
  async run(): Promise<string[]> {
    for (const [path, content] of this.#replaced) {
      await this.#addFolder(posix.dirname(path))
      await this.#add({ name: path, type: 'file', mode: 0o644 }, Buffer.from(content))
    }
    if (this.#folder !== null) await this.#addFolder(this.#folder)
    await this.#walk('', null, false)
    if (this.#rewritten.length === 0) return []
    const names = this.#rewritten.join(', ')
    return [
      `scripts with Windows line endings do not start on Linux, so these are built with Linux line endings: ${names}`,
    ]
  }

  /** With `isFixed`, every file stays as it is. */
  async #walk(folder: string, parent: Verdict | null, isFixed: boolean): Promise<void> {
    const names = readdirSync(join(this.#directory, folder), 'buffer').toSorted(byBytes).map(String)
    const areFixed = isFixed || names.includes(CHECKSUMS)
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (name.includes('\ufffd')) throw new BuildFailure(`the name of ${path} is not UTF-8: rename it`)
      const verdict = this.#rules.match(path, parent)
      const isLeftOut = this.#rules.isLeftOut(verdict)
      const facts = lstatSync(join(this.#directory, path))
      if (facts.isDirectory()) {
        if (isLeftOut && !this.#rules.mayHoldExceptions(path)) continue
        if (!isLeftOut) await this.#addFolder(this.#nameOf(path), facts.mode)
        await this.#walk(path, verdict, areFixed)
      } else if (!isLeftOut) await this.#addLeaf(path, facts, areFixed)
    }
  }

  #nameOf(path: string): string {
    return this.#folder === null ? path : `${this.#folder}/${path}`
  }

  async #addLeaf(
    path: string,
    facts: { mode: number; size: number; isFile(): boolean; isSymbolicLink(): boolean },
    isFixed: boolean,
  ): Promise<void> {
    const name = this.#nameOf(path)
    if (this.#replaced.has(name)) return
    if (!facts.isFile() && !facts.isSymbolicLink()) return
    await this.#addFolder(posix.dirname(name))
    const source = join(this.#directory, path)
    if (facts.isSymbolicLink()) {
      await this.#add({ name, type: 'symlink', mode: 0o777, linkname: readlinkSync(source) })
      return
    }
    await this.#addFile({ name, type: 'file', mode: facts.mode & 0o777, size: facts.size }, path, isFixed)
  }

  async #addFolder(path: string, mode = 0o755): Promise<void> {
    if (path === '.' || this.#folders.has(path)) return
    await this.#addFolder(posix.dirname(path))
    this.#folders.add(path)
    await this.#add({ name: path, type: 'directory', mode: mode & 0o777 })
  }

  #add(header: Partial<Header> & { name: string }, content: Buffer = Buffer.alloc(0)): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const done = (error?: Error | null): void => (error ? reject(error) : resolve())
    this.#archive.entry({ ...header, mtime: this.#modified }, content, done)
    return promise
  }

  async #addFile(
    header: Partial<Header> & { name: string; size: number },
    path: string,
    isFixed: boolean,
  ): Promise<void> {
    const source = join(this.#directory, path)
    if (header.size === 0) return await this.#add(header)
    if (header.size <= SMALL_FILE_BYTES) {
      const content = readFileSync(source)
      const script = isFixed ? null : withLinuxEnds(path, content)
      if (script === null) return await this.#add(header, content)
      if (this.#rewritten.length < MAX_LISTED) this.#rewritten.push(path)
      return await this.#add({ ...header, size: script.length }, script)
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const entry = this.#archive.entry({ ...header, mtime: this.#modified }, (error) =>
      error ? reject(error) : resolve(),
    )
    const reading = createReadStream(source)
    reading.on('error', (error) => entry.destroy(error))
    entry.on('close', () => reading.destroy())
    reading.pipe(entry)
    await promise
  }
}

const byBytes = (one: Buffer, other: Buffer): number => Buffer.compare(one, other)
