import { readSync, writeSync } from 'node:fs'
import { COUNTS_BYTES, type CountsPlace } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'
import { crypto } from '../modules.ts'

/** 32,768 clients a worker: one that sends requests is among the last ones that did. */
const SETS = 8 * 1024
const WAYS = 4
/** Workers that have cells of their own; further ones share. */
const COLUMNS = 16
/** Two hashes of the client's name, then the time until which its requests are paid for. */
const CELL_BYTES = 16
const CELL_WORDS = CELL_BYTES / 4
const CELL_NUMBERS = CELL_BYTES / 8

/**
 * For each client of a limit, one moment: memory of a fixed size, shared by all workers in the file of their counts. Each
 * worker counts in cells of its own, and the latest moment that any of them knows counts. So a worker that is interrupted between
 * reading and writing loses one request, not those of the others in the meantime.
 *
 * Clients are found by a hash with a secret. A new one takes the place of the one among four whose requests were paid for
 * first, and which is therefore the first that nothing need be known of.
 */
export class RateCells {
  readonly #fd: number
  readonly #seed: number
  /** How many workers write, and which of them this one is. */
  #columns: number
  #column: number
  /** Instead of the file: the cells of a worker that counts alone. */
  #alone: Buffer | null
  /** A set of cells with those of all workers, as bytes, as hashes and as moments. */
  readonly #set = Buffer.from(new ArrayBuffer(COLUMNS * WAYS * CELL_BYTES))
  readonly #words = new Uint32Array(this.#set.buffer)
  readonly #moments = new Float64Array(this.#set.buffer)

  /** Without a place, a worker counts alone. */
  constructor(place: CountsPlace | null) {
    this.#fd = place?.fd ?? -1
    this.#seed = place?.seed ?? crypto().randomInt(2 ** 32)
    this.#columns = place ? COLUMNS : 1
    this.#column = place ? place.column % COLUMNS : 0
    this.#alone = place ? null : memoryForOne()
  }

  /** Replaces the moment of a client, in milliseconds, by what `next` returns for it (0 if it is unknown); null leaves it. */
  change(name: string, next: (moment: number) => number | null): void {
    const [first, second] = this.#hashesOf(name)
    const set = first % SETS
    this.#read(set)
    const moment = next(this.#latest(first, second))
    if (moment === null) return
    const cell = this.#ownCell(first, second)
    this.#words[cell * CELL_WORDS] = first
    this.#words[cell * CELL_WORDS + 1] = second
    this.#moments[cell * CELL_NUMBERS + 1] = moment
    this.#write(set, cell)
  }

  /** Lowers the moment of a client, whichever worker wrote it: the latest one of all workers counts. */
  lower(name: string, milliseconds: number): void {
    const [first, second] = this.#hashesOf(name)
    const set = first % SETS
    this.#read(set)
    for (let cell = 0; cell < this.#columns * WAYS; cell++) {
      if (!this.#isOf(cell, first, second)) continue
      this.#moments[cell * CELL_NUMBERS + 1]! -= milliseconds
      this.#write(set, cell)
    }
  }

  #hashesOf(name: string): [first: number, second: number] {
    // The second is never 0, which marks an empty cell.
    return [hashOf(name, this.#seed, 0x01000193), (hashOf(name, ~this.#seed, 0x5bd1e995) | 1) >>> 0]
  }

  /** Returns the latest moment that a worker knows for the client; 0 if none does. */
  #latest(first: number, second: number): number {
    let latest = 0
    for (let cell = 0; cell < this.#columns * WAYS; cell++)
      if (this.#isOf(cell, first, second)) latest = Math.max(latest, this.#momentOf(cell))
    return latest
  }

  /** Returns this worker's cell for the client, or else the one that it takes. */
  #ownCell(first: number, second: number): number {
    const start = this.#column * WAYS
    let oldest = start
    for (let cell = start; cell < start + WAYS; cell++) {
      if (this.#isOf(cell, first, second)) return cell
      if (this.#momentOf(cell) < this.#momentOf(oldest)) oldest = cell
    }
    return oldest
  }

  #isOf(cell: number, first: number, second: number): boolean {
    return this.#words[cell * CELL_WORDS] === first && this.#words[cell * CELL_WORDS + 1] === second
  }

  #momentOf(cell: number): number {
    return this.#moments[cell * CELL_NUMBERS + 1]!
  }

  #read(set: number): void {
    const bytes = this.#columns * WAYS * CELL_BYTES
    if (this.#alone) return void this.#alone.copy(this.#set, 0, set * bytes, (set + 1) * bytes)
    try {
      const length = readSync(this.#fd, this.#set, 0, bytes, COUNTS_BYTES + set * bytes)
      // The file ends with the last cell that was written.
      if (length < bytes) this.#set.fill(0, length)
    } catch (error) {
      this.#countAlone(error)
    }
  }

  #write(set: number, cell: number): void {
    const start = cell * CELL_BYTES
    const at = set * this.#columns * WAYS * CELL_BYTES + start
    if (this.#alone) return void this.#set.copy(this.#alone, at, start, start + CELL_BYTES)
    try {
      writeSync(this.#fd, this.#set, start, CELL_BYTES, COUNTS_BYTES + at)
    } catch (error) {
      this.#countAlone(error)
    }
  }

  /** If the host's memory is full, the worker counts alone from then on. */
  #countAlone(error: unknown): void {
    log('error', 'cannot share request rates with other workers; counting alone', { error: messageOf(error) })
    this.#alone = memoryForOne()
    this.#columns = 1
    this.#column = 0
    this.#set.fill(0)
  }
}

function memoryForOne(): Buffer {
  return Buffer.alloc(SETS * WAYS * CELL_BYTES)
}

function hashOf(name: string, seed: number, factor: number): number {
  let hash = seed
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), factor)
  // Spreads the last characters, in which addresses differ, over all bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
