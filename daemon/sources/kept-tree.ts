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

/** The name of the tree's folder in a mirror. It has another name while git writes it, which shows an interrupted write. */
export const KEPT_TREE = 'tree'
const WRITING = 'tree.writing'

/** What is recorded about a kept tree. */
const Facts = z.object({
  /** The boot of the host in which it was written: after a reboot, some writes may never have reached the disk. */
  run: z.string(),
  /** What wrote it, and with which umask: git does not check the permissions of existing files. */
  writer: z.string(),
  attributes: z.string().nullable(),
  bytes: z.number(),
  files: z.number(),
})

/** Nothing in the server changes the umask. */
const UMASK = process.umask()
/** Asked once, since a new version is noticed at the next start of the server. */
let gitVersion: string | null = null

/** Changes with each boot of the host (random(4)), or without that file with each start of the server. */
const HOST_RUN = readHostRun()

/** Each checkout hard-links the files, which changes their ctime. Their mtime and size still show a modified file. */
const SETTINGS = ['-c', 'core.trustctime=false']

/** Where a tree is wanted, and the reader that puts it there. */
export interface TreePlace {
  reader: Reader
  /** It is created; existing content is removed. */
  root: string
  /** The folder in it that is filled; empty for all of it. */
  folder: string
}

/**
 * The tree that was last written from a mirror, with git's index of it. The next tree is made from it: git writes only what
 * has changed, and checkouts share its files.
 */
export class KeptTree {
  readonly #repository: Repository
  readonly #signal: AbortSignal

  constructor(repository: Repository, signal: AbortSignal) {
    this.#repository = repository
    this.#signal = signal
  }

  /** Writes a commit's tree to `place`, from the kept tree if that is intact and may be used, else in full. Throws GitError. */
  async layOut(judged: JudgedTree, place: TreePlace, usesKept: boolean): Promise<void> {
    if (usesKept && (await this.#isUsableFor(judged)) && (await this.#layOutKept(judged, place))) return
    for (const name of [KEPT_TREE, WRITING]) await removeTree(this.#path(name))
    await this.#update(judged)
    await this.#link(place)
  }

  /** Runs git in the tree and returns its output, unless `onLine` receives that. Throws GitError. */
  git(command: string[], onLine?: (line: string) => void, end?: '\n' | '\0'): Promise<string> {
    return this.#gitIn(KEPT_TREE, command, onLine, end)
  }

  /** Whether the kept tree fits: git does not rewrite unchanged files, even if it would write them differently now. */
  async #isUsableFor({ attributes }: JudgedTree): Promise<boolean> {
    const facts = await readFacts(this.#repository.directory)
    if (facts === null || facts.run !== HOST_RUN || facts.attributes !== attributes) return false
    return facts.writer === (await this.#writer())
  }

  /** Whether the kept tree could be used. If anything is wrong with it, another one is written. */
  async #layOutKept(judged: JudgedTree, place: TreePlace): Promise<boolean> {
    try {
      await this.#update(judged)
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

  async #update(judged: JudgedTree): Promise<void> {
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
      // A half-written tree may be what fills the disk.
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

/** The disk usage of a mirror's kept tree; null if it has none. */
export async function sizeOfKeptTree(mirror: string): Promise<CheckoutUse | null> {
  return await readFacts(mirror)
}

/** The paths of trees in an unused mirror that are not usable: an interrupted write, or a tree without recorded facts. */
export async function unfinishedTreesOf(mirror: string): Promise<string[]> {
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
