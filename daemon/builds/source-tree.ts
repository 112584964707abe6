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

/** The files of a source while they are being used. */
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

  /** The path of its `root_dir`. */
  get root(): string {
    return join(this.place.directory, this.place.folder)
  }

  /** The process that reads its files; nothing else does. */
  get reader(): Reader {
    return (this.#reader ??= new Reader(this.#signal))
  }

  /** Makes a call to that process. */
  ask<Input, Output>(call: Call<Input, Output>, input: Input): Promise<Output> {
    return this.reader.ask(call, input)
  }

  /** Ends the process until it is needed again, since it takes 60 MiB. */
  async rest(): Promise<void> {
    await this.#reader?.end()
    this.#reader = null
  }

  /** Removes the files and ends the process as soon as neither is needed; may be called more than once. */
  release(): Promise<void> {
    this.#released ??= this.ask(REMOVE_TREE, { directory: this.#directory })
      // Files that are left are removed at the end.
      .catch(() => {})
      .then(() => this.rest())
    return this.#released
  }
}

/** Which source is wanted, and how to get it. */
export interface SourceRequest {
  /** The name of its folder in `checkouts`, which only one request at a time may use. */
  name: string
  rootDir: string | null
  /** Limits how many sources of its kind are fetched at once. */
  slots: Slots
  /** Writes the source to a directory, which is created if it is missing. */
  layOut: (directory: string, reader: Reader) => Promise<void>
  signal: AbortSignal
}

/**
 * Fetches a source, runs `work` on it, and removes it. Throws BuildFailure for a missing `rootDir`, and whatever `layOut`
 * and `work` throw.
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
    // Canceling does not wait for a slow disk.
    if (!signal.aborted) await removed
  }
}

async function layOut(directory: string, request: SourceRequest): Promise<SourceTree> {
  const { rootDir, signal } = request
  // The process starts while git clones.
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

/** Finds `root_dir` in the tree; a link that leads out of the tree counts as missing. */
async function placeOf(tree: string, rootDir: string | null): Promise<Place> {
  const directory = await realpath(tree)
  if (rootDir === null) return { directory, folder: '' }
  const root = await realpath(join(directory, rootDir)).catch(() => null)
  const folder = root === null ? null : relative(directory, root)
  const isInside = root !== null && folder !== null && !/^\.\.(\/|$)/.test(folder)
  if (!isInside || !(await stat(root)).isDirectory()) {
    throw new BuildFailure(`root_dir ${rootDir} is not a folder of the source: correct it`)
  }
  return { directory, folder }
}
