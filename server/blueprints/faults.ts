import { AppError, type FaultDetail } from '../errors.ts'

/** A place in a file: line and column, counted from 1, and the path of its keys. */
export interface Place {
  line: number
  column: number
  path: string
}

/** One thing that is wrong with a file. */
export type Fault = FaultDetail

/** Keeps the response readable: if a file has more, the rest appear when these are fixed. */
const MAX_FAULTS = 1_000

/** Collects what is wrong with a file while it is read; a fault in one part does not stop the reading of the others. */
export class Faults {
  readonly #found: Fault[] = []
  readonly #seen = new Set<string>()
  /** The paths of all faults, and of everything that contains them. */
  readonly #paths = new Set<string>()

  /** Starts with faults that were found before. */
  constructor(found: readonly Fault[] = []) {
    for (const { message, ...place } of found) this.add(place, message)
  }

  get any(): boolean {
    return this.#found.length > 0
  }

  get found(): readonly Fault[] {
    return this.#found
  }

  add({ line, column, path }: Place, message: string): void {
    this.#paths.add(path)
    for (const { index } of path.matchAll(/[.[]/g)) this.#paths.add(path.slice(0, index))
    const key = `${line}:${column}:${message}`
    if (this.#seen.has(key) || this.#found.length >= MAX_FAULTS) return
    this.#seen.add(key)
    this.#found.push({ line, column, path, message })
  }

  /** Adds a fault unless its place already has one. */
  addOnce(place: Place, message: string): void {
    const { line, column } = place
    if (!this.#found.some((fault) => fault.line === line && fault.column === column)) this.add(place, message)
  }

  /** Whether there is a fault at a path or in a part of it. */
  concern(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Throws `invalid_request` with every fault, in the order of the file; returns if there are none. */
  refuse(): void {
    if (!this.any) return
    const details = this.#found.toSorted(
      (left, right) => left.line - right.line || left.column - right.column,
    )
    throw new AppError('invalid_request', details.map(wordsOf).join('\n'), { details })
  }
}

function wordsOf({ line, column, path, message }: Fault): string {
  return `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`
}
