import { existsSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crypto } from '../modules.ts'

/** Memory of the host that has a name, shm_overview(7): nothing of it is written to a disk. */
const SHARED_MEMORY = '/dev/shm'
/** Rows of the file; names are hashed to them and may share one. */
const ROWS = 16 * 1024
/** Workers that count at a time, those among them that finish what they serve. */
const COLUMNS = 64
const CELL_BYTES = 4
const ROW_BYTES = COLUMNS * CELL_BYTES
const ROWS_AT_ONCE = 256

/** How a worker finds the counts and its own place among them. */
export interface CountsPlace {
  /** The descriptor of the file. */
  fd: number
  column: number
  /** Makes the hashes unpredictable to clients. */
  seed: number
}

/**
 * Counts that all workers of one supervisor share: a file in memory, which nobody else can open, with a row for each count
 * and a column for each worker. A worker writes its own cells and reads a row as a whole.
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

  /** What the other workers have reported under this name. */
  others(name: string): number {
    const length = readSync(this.#fd, this.#row, 0, ROW_BYTES, this.#rowOf(name))
    let sum = 0
    for (let at = 0; at < length; at += CELL_BYTES)
      if (at !== this.#column * CELL_BYTES) sum += this.#row.readUInt32LE(at)
    return sum
  }

  /** Adds to what this worker reports under this name; a negative number takes away. */
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
    // The last characters, in which networks differ, come to bear on all bits.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    return (((hash ^ (hash >>> 13)) >>> 0) % ROWS) * ROW_BYTES
  }
}

/** The file of the counts, of which each worker has a column while it lives. */
export class CountColumns {
  readonly fd: number
  readonly #seed = crypto().randomInt(2 ** 32)
  readonly #taken = new Set<number>()

  /** `directory` has the file where the host has no shared memory. */
  constructor(directory: string) {
    const name = `deployer-proxy-${crypto().randomUUID()}`
    const file = join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : directory, name)
    this.fd = openSync(file, 'wx+', 0o600)
    rmSync(file)
  }

  /** A column for the next worker; null when there are more than share. */
  take(): CountsPlace | null {
    for (let column = 0; column < COLUMNS; column++) {
      if (this.#taken.has(column)) continue
      this.#taken.add(column)
      return { fd: this.fd, column, seed: this.#seed }
    }
    return null
  }

  /** Its worker has ended: what that counted counts no more. */
  free(column: number): void {
    const rows = Buffer.alloc(ROWS_AT_ONCE * ROW_BYTES)
    const zero = Buffer.alloc(CELL_BYTES)
    for (let at = 0; at < ROWS * ROW_BYTES; at += rows.length) {
      const length = readSync(this.fd, rows, 0, rows.length, at)
      for (let cell = column * CELL_BYTES; cell < length; cell += ROW_BYTES)
        if (rows.readUInt32LE(cell) !== 0) writeSync(this.fd, zero, 0, CELL_BYTES, at + cell)
      if (length < rows.length) break
    }
    this.#taken.delete(column)
  }
}
