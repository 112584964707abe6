import { realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { useContext } from '#server/context.ts'
import { makePrivateDirectory } from '#server/files.ts'
import type { Slots } from '#server/work/slots.ts'
import { BuildFailure } from '#plans/index.ts'
import type { Call } from '../reader/call.ts'
import { Reader } from '../reader/reader.ts'
import { REMOVE_TREE } from '../sources/reader-calls.ts'
import { clearTree, removeTree } from '../sources/remove-tree.ts'
import type { Place } from './recipe.ts'

/** The files of a source while something is made of them. */
export class SourceTree {
  readonly place: Place
  readonly #directory: string
  readonly #signal: AbortSignal
  #reader: Reader | null
  #released: Promise<void> | null = null

  constructor(place: Place, reader: Reader, directory: string, signal: AbortSignal) {
    this.place = place
    this.#reader = reader
    this.#directory = directory
    this.#signal = signal
  }

  /** Its `root_dir`. */
  get root(): string {
    return join(this.place.directory, this.place.folder)
  }

  /** The process that alone looks into its files. */
  get reader(): Reader {
    return (this.#reader ??= new Reader(this.#signal))
  }

  /** Has that process answer a call. */
  ask<Input, Output>(call: Call<Input, Output>, input: Input): Promise<Output> {
    return this.reader.ask(call, input)
  }

  /** Ends the process for as long as nothing is asked of it: it takes 60 MiB. */
  async rest(): Promise<void> {
    await this.#reader?.end()
    this.#reader = null
  }

  /** Removes the files and ends the process, as soon as neither is needed; may be called more than once. */
  release(): Promise<void> {
    this.#released ??= this.ask(REMOVE_TREE, { directory: this.#directory })
      // What it leaves is removed at the end of all.
      .catch(() => {})
      .then(() => this.rest())
    return this.#released
  }
}

/** Which source is wanted, and how it comes. */
export interface SourceRequest {
  /** Of its folder below `checkouts`, for one at a time. */
  name: string
  rootDir: string | null
  /** How many of its kind are laid out at once. */
  slots: Slots
  /** Puts it into a directory, which is made when it is missing. */
  layOut: (directory: string, reader: Reader) => Promise<void>
  signal: AbortSignal
}

/**
 * Lays out a source, has `work` make something of it, and removes it. Throws BuildFailure for a `rootDir` that is not
 * there, and what the two throw.
 */
export async function withSourceTree<T>(
  request: SourceRequest,
  work: (source: SourceTree) => Promise<T>,
): Promise<T> {
  const { name, slots, signal } = request
  const directory = join(useContext().options.dataDirectory, 'checkouts', name)
  let source: SourceTree | undefined
  try {
    source = await slots.run(() => layOut(directory, request), signal)
    const made = await work(source)
    await source.release()
    return made
  } finally {
    await source?.rest()
    const removed = clearTree(directory)
    // Who cancels does not wait for a slow disk.
    if (!signal.aborted) await removed
  }
}

async function layOut(directory: string, request: SourceRequest): Promise<SourceTree> {
  const { rootDir, signal } = request
  // It starts while git clones.
  const reader = new Reader(signal)
  try {
    await removeTree(directory)
    makePrivateDirectory(directory)
    const tree = join(directory, 'tree')
    await request.layOut(tree, reader)
    return new SourceTree(await placeOf(tree, rootDir), reader, directory, signal)
  } catch (error) {
    await reader.end()
    throw error
  }
}

/** `root_dir` inside the tree; links that lead out of it count as missing. */
async function placeOf(tree: string, rootDir: string | null): Promise<Place> {
  const directory = await realpath(tree)
  if (rootDir === null) return { directory, folder: '' }
  const root = await realpath(join(directory, rootDir)).catch(() => null)
  const folder = root === null ? null : relative(directory, root)
  const isInside = root !== null && folder !== null && !/^\.\.(\/|$)/.test(folder)
  if (!isInside || !(await stat(root)).isDirectory()) {
    throw new BuildFailure(`root_dir ${rootDir} is no folder of the source: correct it`)
  }
  return { directory, folder }
}
