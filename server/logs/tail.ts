import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { LineMatcher } from './filter.ts'
import type { LogLine } from './lines.ts'
import { readPart, type Slice } from './parts.ts'

/** Read and searched in one go: less than a millisecond of work. */
const BLOCK_BYTES = 128 * 1024
const NEWLINE = 0x0a

/** Limits how much of the found lines a reader may hold. */
export interface Room {
  /** Takes bytes if there is room for so many; returns whether it did. */
  take(bytes: number): boolean
}

/** A fixed number of bytes. */
export class Allowance implements Room {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }
}

export interface Found {
  /** Lines with their newlines, in blocks, oldest first. */
  blocks: Buffer[]
  count: number
  /** Whether older lines were left out because there was no room. */
  isCut: boolean
}

/** Finds the newest `tail` wanted lines of a log, starting at its end. Throws the signal's reason. */
export async function readTail(
  slices: readonly Slice[],
  matcher: LineMatcher | null,
  tail: number,
  room: Room,
  signal?: AbortSignal,
): Promise<Found> {
  const found: Found = { blocks: [], count: 0, isCut: false }
  if (tail === 0) return found
  const newestFirst = slices.toReversed()
  let content = unpacked(newestFirst[0])
  for (const [index, slice] of newestFirst.entries()) {
    const blocks = readableBlocks(slice, content)
    // Every line has to be searched, so the next part is unpacked while this one is searched.
    content = matcher ? unpacked(newestFirst[index + 1]) : null
    for await (const block of blocks) {
      signal?.throwIfAborted()
      const taken = matcher
        ? newestMatches(matcher, block, tail - found.count)
        : newest(block, tail - found.count)
      if (taken.count > 0 && !room.take(taken.text.length)) return { ...found, isCut: true }
      if (taken.count > 0) found.blocks.unshift(taken.text)
      found.count += taken.count
      if (found.count >= tail) return found
      // Lets other work run.
      await setImmediate()
    }
  }
  return found
}

function newestMatches(matcher: LineMatcher, block: Buffer, wanted: number) {
  const lines = matcher(block.toString('utf8')).slice(-wanted)
  return { text: Buffer.from(lines.map((line) => `${line}\n`).join('')), count: lines.length }
}

/** The last lines of a block, unfiltered. */
function newest(block: Buffer, wanted: number): { text: Buffer; count: number } {
  let start = block.length
  let count = 0
  while (start > 0 && count < wanted) {
    start = start === 1 ? 0 : block.lastIndexOf(NEWLINE, start - 2) + 1
    count++
  }
  // Copied, so that a few lines do not keep the whole block in memory.
  return { text: Buffer.from(block.subarray(start)), count }
}

/** A part that is being unpacked; null for one that is not packed. */
type Unpacked = Promise<Buffer | null> | null

/** Begins to unpack a packed part; null for any other. */
export function unpacked(slice: Slice | undefined): Unpacked {
  if (!slice?.isPacked) return null
  const content = readPart(slice)
  // Avoids an unhandled rejection; a caller that awaits the content still gets the error.
  content.catch(() => {})
  return content
}

/**
 * The whole lines of a part in blocks, newest first. A part that cannot be read gives a line that says so, so that the other
 * parts can still be read.
 */
export async function* readableBlocks(slice: Slice, begun: Unpacked = null): AsyncGenerator<Buffer> {
  try {
    yield* blocksBackwards(slice, begun)
  } catch (error) {
    const text = `a part of the log cannot be read and is left out here: ${messageOf(error)}`
    // With the day of the part, because readers that continue later go by the newest time.
    const line: LogLine = { ts: `${slice.day}T00:00:00.000Z`, stream: 'system', line: text }
    yield Buffer.from(`${JSON.stringify(line)}\n`)
  }
}

async function* blocksBackwards(slice: Slice, begun: Unpacked = null): AsyncGenerator<Buffer, void> {
  const { bytes } = slice
  const file = slice.isPacked || bytes === null ? null : await open(slice.path, 'r').catch(() => null)
  // One that was growing without a file was packed or removed after it was listed.
  if (bytes === null || !file) {
    const content = await (begun ?? readPart(slice))
    if (content) yield* piecesBackwards(content.subarray(0, content.lastIndexOf(NEWLINE) + 1))
    return
  }
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (let end = bytes; end > 0;) {
      const start = Math.max(0, end - BLOCK_BYTES)
      const piece = Buffer.allocUnsafe(end - start)
      const { bytesRead } = await file.read(piece, 0, piece.length, start)
      const text = Buffer.concat([piece.subarray(0, bytesRead), rest])
      // The first line may begin in the previous piece.
      const head = start === 0 ? 0 : text.indexOf(NEWLINE) + 1
      rest = text.subarray(0, head)
      if (head < text.length) yield text.subarray(head)
      end = start
    }
  } finally {
    await file.close()
  }
}

function* piecesBackwards(content: Buffer): Generator<Buffer> {
  for (let end = content.length; end > 0;) {
    const start = end <= BLOCK_BYTES ? 0 : content.lastIndexOf(NEWLINE, end - BLOCK_BYTES) + 1
    yield content.subarray(start, end)
    end = start
  }
}
