import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { parsedJson } from '#server/text/parsed-json.ts'
import { VERSION } from '#server/version.ts'
import { BuildFailure } from '#plans/index.ts'
import type { Reader } from '../reader/reader.ts'
import type { CheckoutUse } from './checkout-limits.ts'
import { useOf, type JudgedTree } from './judged-tree.ts'
import { LINK_TREE } from './reader-calls.ts'
import { clearTree, removeTree } from './remove-tree.ts'
import { runAt, type Repository } from './repository.ts'

/** Of the folder in a mirror. While git writes it has another, by which one is told that was cut off. */
export const KEPT_TREE = 'tree'
const WRITING = 'tree.writing'

/** What is known of a kept tree. */
const Facts = z.object({
  /** Of the host's run in which it was written: what the next finds may never have come to the disk. */
  run: z.string(),
  /** What wrote it, and with which rights: git does not look at those of a file that is there. */
  writer: z.string(),
  attributes: z.string().nullable(),
  bytes: z.number(),
  files: z.number(),
})

/** Nothing in the server changes it. */
const UMASK = process.umask()
/** Asked once: another is there after the next start of the server. */
let gitVersion: string | null = null

/** Changes with each start of the host (random(4)); where there is none, with each of the server. */
const HOST_RUN = readHostRun()

/** Each checkout gives the files further names, which changes their ctime. Their mtime and size still tell that one was written to. */
const SETTINGS = ['-c', 'core.trustctime=false']

/** Where a tree is wanted, and what puts it there. */
export interface TreePlace {
  reader: Reader
  /** Made; what is in it is removed. */
  root: string
  /** One of its folders, which alone is filled; empty for all of it. */
  folder: string
}

/**
 * The tree that was laid out last from a mirror, with git's index of it. The next one is made from it: git writes what has
 * changed, and a checkout shares the files.
 */
export class KeptTree {
  readonly #repository: Repository
  readonly #signal: AbortSignal

  constructor(repository: Repository, signal: AbortSignal) {
    this.#repository = repository
    this.#signal = signal
  }

  /** Lays out a commit of the repository; a tree that is not as git left it, or not to be used, is written anew. Throws GitError. */
  async layOut(judged: JudgedTree, place: TreePlace, usesKept: boolean): Promise<void> {
    if (usesKept && (await this.#hasUseFor(judged)) && (await this.#layOutKept(judged, place))) return
    for (const name of [KEPT_TREE, WRITING]) await removeTree(this.#path(name))
    await this.#bringTo(judged)
    await this.#link(place)
  }

  /** Runs git in it and answers what it wrote, unless `onLine` takes that. Throws GitError. */
  git(command: string[], onLine?: (line: string) => void, end?: '\n' | '\0'): Promise<string> {
    return this.#gitIn(KEPT_TREE, command, onLine, end)
  }

  /** git leaves what has not changed as it is, also where it would write it in another way now. */
  async #hasUseFor({ attributes }: JudgedTree): Promise<boolean> {
    const facts = await readFacts(this.#repository.directory)
    if (facts === null || facts.run !== HOST_RUN || facts.attributes !== attributes) return false
    return facts.writer === (await this.#writer())
  }

  /** Whether the tree that is kept could be made use of. Whatever is wrong with it, another is written. */
  async #layOutKept(judged: JudgedTree, place: TreePlace): Promise<boolean> {
    try {
      await this.#bringTo(judged)
      return (await this.#link(place)) === judged.files
    } catch (error) {
      if (error instanceof BuildFailure || this.#signal.aborted) throw error
      return false
    }
  }

  async #writer(): Promise<string> {
    gitVersion ??= (await this.#repository.git(['version'])).trim()
    return [VERSION, gitVersion, UMASK.toString(8)].join(', ')
  }

  async #bringTo(judged: JudgedTree): Promise<void> {
    const { sha, attributes } = judged
    const [tree, writing] = [this.#path(KEPT_TREE), this.#path(WRITING)]
    if (existsSync(tree)) await rename(tree, writing)
    else await mkdir(join(writing, 'files'), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
    try {
      await this.#gitIn(WRITING, ['read-tree', '--reset', '-u', sha])
      const facts: z.infer<typeof Facts> = {
        run: HOST_RUN,
        writer: await this.#writer(),
        attributes,
        ...useOf(judged),
      }
      await writeFile(join(writing, 'facts.json'), JSON.stringify(facts))
    } catch (error) {
      // Half of it may be what fills the disk.
      await clearTree(writing)
      throw error
    }
    await rename(writing, tree)
  }

  #link({ reader, root, folder }: TreePlace): Promise<number> {
    return reader.ask(LINK_TREE, { from: join(this.#path(KEPT_TREE), 'files'), root, folder })
  }

  #gitIn(
    name: string,
    command: string[],
    onLine?: (line: string) => void,
    end?: '\n' | '\0',
  ): Promise<string> {
    const { directory, remote } = this.#repository
    const files = join(this.#path(name), 'files')
    const place = [...SETTINGS, '-C', files, `--git-dir=${directory}`, `--work-tree=${files}`]
    const environment = { ...remote.environment, GIT_INDEX_FILE: join(this.#path(name), 'index') }
    return runAt(place, { ...remote, environment }, command, onLine, end)
  }

  #path(name: string): string {
    return join(this.#repository.directory, name)
  }
}

/** What the kept tree of a mirror takes of the disk; null without one. */
export async function sizeOfKeptTree(mirror: string): Promise<CheckoutUse | null> {
  return await readFacts(mirror)
}

/** Where in a mirror that nobody uses may lie what is no kept tree: cut off while it was written, or with nothing known of it. */
export async function halfTreesOf(mirror: string): Promise<string[]> {
  const names = (await readFacts(mirror)) === null ? [KEPT_TREE, WRITING] : [WRITING]
  return names.map((name) => join(mirror, name))
}

async function readFacts(mirror: string): Promise<z.infer<typeof Facts> | null> {
  const text = await readFile(join(mirror, KEPT_TREE, 'facts.json'), 'utf8').catch(() => '')
  return Facts.safeParse(parsedJson(text)).data ?? null
}

function readHostRun(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return randomUUID()
  }
}
