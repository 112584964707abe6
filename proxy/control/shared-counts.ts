import { existsSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crypto } from '../modules.ts'

/** Named shared memory of the host, shm_overview(7): it is never written to a disk. */
const SHARED_MEMORY = '/dev/shm'
/** Rows of the file; names are hashed to rows, and two may share one. */
const ROWS = 16 * 1024
/** Max workers that count at a time, including those that only finish what they serve. */
const COLUMNS = 64
const CELL_BYTES = 4
const ROW_BYTES = COLUMNS * CELL_BYTES
const ROWS_AT_ONCE = 256
/** The length of the counts. What comes after them in the file is for others (`edge/rate-cells.ts`). */
export const COUNTS_BYTES = ROWS * ROW_BYTES

/** How a worker finds the counts and its own place among them. */
export interface CountsPlace {
  /** The descriptor of the file. */
  fd: number
  column: number
  /** A secret, so that clients cannot predict the hashes. */
  seed: number
}

/**
 * Counts shared by all workers of one supervisor: a file in memory, which no other process can open, with a row for each
 * count and a column for each worker. A worker writes its own cells and reads whole rows.
 */
export class SharedCounts {
  readonly #fd: number
  readonly #column: number
  readonly #seed: number
  readonly #row = Buffer.alloc(ROW_BYTES)
  readonly #cell = Buffer.alloc(CELL_BYTES)

  constructor({ fd, column, seed }: CountsPlace) {
    this.#fd = fd
    this.#column = column
    this.#seed = seed
  }

  /** Returns the sum of what the other workers have reported under this name. */
  others(name: string): number {
    const length = readSync(this.#fd, this.#row, 0, ROW_BYTES, this.#rowOf(name))
    let sum = 0
    for (let at = 0; at < length; at += CELL_BYTES)
      if (at !== this.#column * CELL_BYTES) sum += this.#row.readUInt32LE(at)
    return sum
  }

  /** Adds to what this worker has reported under this name; a negative number subtracts. */
  report(name: string, more: number): void {
    const at = this.#rowOf(name) + this.#column * CELL_BYTES
    const length = readSync(this.#fd, this.#cell, 0, CELL_BYTES, at)
    const before = length === CELL_BYTES ? this.#cell.readUInt32LE(0) : 0
    this.#cell.writeUInt32LE(Math.max(before + more, 0), 0)
    writeSync(this.#fd, this.#cell, 0, CELL_BYTES, at)
  }

  #rowOf(name: string): number {
    let hash = this.#seed
    for (let index = 0; index < name.length; index++)
      hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
    // Spreads the last characters, in which networks differ, over all bits.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    return (((hash ^ (hash >>> 13)) >>> 0) % ROWS) * ROW_BYTES
  }
}

/** The file of the counts, in which each worker has a column while it lives. */
export class CountColumns {
  readonly fd: number
  readonly #seed = crypto().randomInt(2 ** 32)
  readonly #taken = new Set<number>()

  /** Puts the file into `directory` if the host has no shared memory. */
  constructor(directory: string) {
    const name = `deployer-proxy-${crypto().randomUUID()}`
    const file = join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : directory, name)
    this.fd = openSync(file, 'wx+', 0o600)
    rmSync(file)
  }

  /** Returns a column for the next worker, or null if all are taken. */
  take(): CountsPlace | null {
    for (let column = 0; column < COLUMNS; column++) {
      if (this.#taken.has(column)) continue
      this.#taken.add(column)
      return { fd: this.fd, column, seed: this.#seed }
    }
    return null
  }

  /** Frees the column of a worker that has ended, and clears what it counted. */
  free(column: number): void {
    const rows = Buffer.alloc(ROWS_AT_ONCE * ROW_BYTES)
    const zero = Buffer.alloc(CELL_BYTES)
    for (let at = 0; at < COUNTS_BYTES; at += rows.length) {
      const length = readSync(this.fd, rows, 0, rows.length, at)
      for (let cell = column * CELL_BYTES; cell < length; cell += ROW_BYTES)
        if (rows.readUInt32LE(cell) !== 0) writeSync(this.fd, zero, 0, CELL_BYTES, at + cell)
      if (length < rows.length) break
    }
    this.#taken.delete(column)
  }
}
