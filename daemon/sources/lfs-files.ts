import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { BuildFailure } from '#plans/index.ts'

/** A pointer is shorter (git-lfs, docs/spec.md). */
const MAX_POINTER_BYTES = 1_024
const PERMISSION_BITS = 0o777
const VERSION = /^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v1$/

/** A file that is stored in Git LFS, and its paths in a tree. */
export interface LfsObject {
  /** Its SHA-256, in hex. */
  oid: string
  size: number
  paths: string[]
}

/** The objects that the pointers among these files name; other files already have their content. */
export async function readPointers({
  directory,
  paths,
}: {
  directory: string
  paths: string[]
}): Promise<LfsObject[]> {
  const objects = new Map<string, LfsObject>()
  for (const path of paths) {
    const facts = lstatSync(join(directory, path), { throwIfNoEntry: false })
    if (!facts?.isFile() || facts.size >= MAX_POINTER_BYTES) continue
    const pointer = parsePointer(readFileSync(join(directory, path), 'utf8'))
    if (pointer === null) continue
    const key = `${pointer.oid} ${pointer.size}`
    const known = objects.get(key)
    if (known) known.paths.push(path)
    else objects.set(key, { ...pointer, paths: [path] })
  }
  return [...objects.values()]
}

/** The message for an archive whose first pointers are these. */
export function lackingContent(pointers: readonly string[]): string {
  return `the archive has Git LFS pointers instead of files (${pointers.join(', ')}): run "git lfs pull" before you pack it`
}

/** Whether a file with this size is a pointer. */
export function isPointer(path: string, size: number): boolean {
  return size > 0 && size < MAX_POINTER_BYTES && parsePointer(readFileSync(path, 'utf8')) !== null
}

/** The object that a pointer names (git-lfs, docs/spec.md); null if the file is not a pointer. */
export function parsePointer(text: string): Omit<LfsObject, 'paths'> | null {
  const [version, ...lines] = text.split('\n')
  if (!VERSION.test(version!)) return null
  const oid = lines.map((line) => /^oid sha256:([0-9a-f]{64})$/.exec(line)?.[1]).find(Boolean)
  const size = Number(lines.map((line) => /^size (\d+)$/.exec(line)?.[1]).find(Boolean))
  return oid === undefined || !Number.isSafeInteger(size) ? null : { oid, size }
}

/** Replaces pointers by their objects, whose bytes arrive one after another. Throws BuildFailure for wrong bytes. */
export async function writeObjects(
  { directory, objects }: { directory: string; objects: LfsObject[] },
  input: Readable,
): Promise<null> {
  const bytes = new Pieces(input)
  for (const { oid, size, paths } of objects) {
    const [first, ...others] = paths.map((path) => join(directory, path))
    const hash = createHash('sha256')
    const { O_CREAT, O_EXCL, O_WRONLY } = constants
    const file = openSync(first!, O_CREAT | O_EXCL | O_WRONLY, removeReturningMode(first!))
    try {
      for (let left = size; left > 0;) {
        const piece = await bytes.take(left)
        if (piece === null) throw new BuildFailure(`the Git LFS file ${paths[0]} ended early: deploy again`)
        hash.update(piece)
        for (let written = 0; written < piece.length;) written += writeSync(file, piece, written)
        left -= piece.length
      }
    } finally {
      closeSync(file)
    }
    if (hash.digest('hex') !== oid)
      throw new BuildFailure(
        `the content of the Git LFS file ${paths[0]} does not match its pointer: push it again`,
      )
    for (const other of others) {
      const mode = removeReturningMode(other)
      copyFileSync(first!, other, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
      chmodSync(other, mode)
    }
  }
  return null
}

/** Removes a file, which other trees may share, and returns its permissions. */
function removeReturningMode(path: string): number {
  const { mode } = lstatSync(path)
  unlinkSync(path)
  return mode & PERMISSION_BITS
}

/** A stream from which pieces of a limited size can be read. */
class Pieces {
  readonly #source: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(source: Readable) {
    this.#source = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /** At least one byte and at most `max`; null at the end. */
  async take(max: number): Promise<Buffer | null> {
    while (this.#held.length === 0) {
      const next = await this.#source.next()
      if (next.done) return null
      this.#held = next.value
    }
    const piece = this.#held.subarray(0, max)
    this.#held = this.#held.subarray(piece.length)
    return piece
  }
}
