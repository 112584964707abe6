import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { pack, type Header, type Pack } from 'tar-stream'
import { Tree } from '../sources/tree.ts'
import { readDockerfile } from './dockerfile.ts'
import { IgnoreRules, type Verdict } from './dockerignore.ts'
import { BuildFailure } from './failure.ts'
import { BUILD_STEP, BUILD_STEP_FILE } from './plans/steps.ts'

/** What a build is made by: a Dockerfile of the tree, or one that a language plan wrote. */
export type BuildFile =
  | { kind: 'tree'; path: string }
  /** The tree lies below `SOURCE_FOLDER` of the context then, so that no `COPY` of it takes the Dockerfile along. */
  | { kind: 'plan'; content: string; ignore: string[] }

/** What the engine is sent for a build. */
export interface BuildContext {
  tar: Readable
  /** Where the Dockerfile lies in `tar`. */
  dockerfilePath: string
  /** What the build's log should say about the context. */
  notes: string[]
}

/** The folder of a plan's context that holds the source. */
export const SOURCE_FOLDER = 'source'

/** An ignore file beyond this is none. */
const MAX_IGNORE_FILE_BYTES = 1024 * 1024

/**
 * Packs a source tree as the build context of the engine, which does not apply `.dockerignore` to such a body: it is
 * applied here. Links stay links and are never followed; sockets and devices are left out. Names and order depend on
 * the tree alone. Throws BuildFailure for a Dockerfile or ignore file that is missing or cannot be read.
 */
export async function packContext(directory: string, file: BuildFile): Promise<BuildContext> {
  const notes: string[] = []
  const tree = new Tree(directory)
  const replaced = new Map<string, string>()
  const prefix = file.kind === 'plan' ? `${SOURCE_FOLDER}/` : ''
  let dockerfilePath = 'Dockerfile'
  if (file.kind === 'plan') {
    replaced.set(dockerfilePath, file.content)
    replaced.set(BUILD_STEP_FILE, BUILD_STEP)
  } else {
    dockerfilePath = posix.normalize(file.path)
    const dockerfile = await readDockerfile(tree, dockerfilePath)
    notes.push(...dockerfile.notes)
    replaced.set(dockerfilePath, dockerfile.content)
  }
  const rules = await readRules(tree, file, dockerfilePath, notes)
  const archive = pack()
  const packer = new Packer(directory, prefix, archive, rules, replaced)
  packer.run().then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return {
    tar: Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }),
    dockerfilePath,
    notes,
  }
}

async function readRules(
  tree: Tree,
  file: BuildFile,
  dockerfilePath: string,
  notes: string[],
): Promise<IgnoreRules> {
  const extra = file.kind === 'plan' ? file.ignore.join('\n') : ''
  const candidates =
    file.kind === 'plan' ? ['.dockerignore'] : [`${dockerfilePath}.dockerignore`, '.dockerignore']
  for (const name of candidates) {
    const text = await tree.readText(name, MAX_IGNORE_FILE_BYTES)
    if (text === null) continue
    notes.push(`leaving out of the build what ${name} names`)
    return new IgnoreRules(`${text}\n${extra}`, name)
  }
  return new IgnoreRules(extra, '.dockerignore')
}

class Packer {
  readonly #directory: string
  readonly #prefix: string
  readonly #archive: Pack
  readonly #rules: IgnoreRules
  /** Files with another content than the tree's; they are in the context whatever the rules say. */
  readonly #replaced: Map<string, string>
  /** One moment for all: it is not part of the engine's cache key, but of the ETags that web servers make. */
  readonly #modified = new Date()
  readonly #folders = new Set<string>()

  constructor(
    directory: string,
    prefix: string,
    archive: Pack,
    rules: IgnoreRules,
    replaced: Map<string, string>,
  ) {
    this.#directory = directory
    this.#prefix = prefix
    this.#archive = archive
    this.#rules = rules
    this.#replaced = replaced
  }

  async run(): Promise<void> {
    for (const [path, content] of this.#replaced) {
      await this.#addFolder(posix.dirname(path))
      await this.#add({ name: path, type: 'file', mode: 0o644 }, Buffer.from(content))
    }
    if (this.#prefix !== '') await this.#addFolder(SOURCE_FOLDER)
    await this.#walk('', null)
  }

  async #walk(folder: string, parent: Verdict | null): Promise<void> {
    const names = (await readdir(join(this.#directory, folder))).toSorted()
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (name.includes('\ufffd')) throw new BuildFailure(`the name of ${path} is not UTF-8: rename it`)
      const verdict = this.#rules.match(path, parent)
      const isLeftOut = this.#rules.isLeftOut(verdict)
      const facts = await lstat(join(this.#directory, path))
      if (facts.isDirectory()) {
        if (isLeftOut && !this.#rules.mayHoldExceptions(path)) continue
        if (!isLeftOut) await this.#addFolder(`${this.#prefix}${path}`, facts.mode)
        await this.#walk(path, verdict)
      } else if (!isLeftOut) await this.#addLeaf(path, facts)
    }
  }

  async #addLeaf(
    path: string,
    facts: { mode: number; size: number; isFile(): boolean; isSymbolicLink(): boolean },
  ): Promise<void> {
    const name = `${this.#prefix}${path}`
    if (this.#replaced.has(name)) return
    if (!facts.isFile() && !facts.isSymbolicLink()) return
    await this.#addFolder(posix.dirname(name))
    const source = join(this.#directory, path)
    if (facts.isSymbolicLink()) {
      await this.#add({ name, type: 'symlink', mode: 0o777, linkname: await readlink(source) })
    } else await this.#addFile({ name, type: 'file', mode: facts.mode & 0o777, size: facts.size }, source)
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

  async #addFile(header: Partial<Header> & { name: string; size: number }, source: string): Promise<void> {
    if (header.size === 0) return await this.#add(header)
    if (header.size <= SMALL_FILE_BYTES) return await this.#add(header, await readFile(source))
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

/** Read at once: faster than a stream each for the many small files of a tree. */
const SMALL_FILE_BYTES = 256 * 1024
