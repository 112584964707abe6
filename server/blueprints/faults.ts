import { AppError, type FaultDetail } from '../errors.ts'

/** Where something stands in a file: line and column from 1, and the path of its keys. */
export interface Place {
  line: number
  column: number
  path: string
}

/** One thing that is wrong with a file. */
export type Fault = FaultDetail

/** Who has more sees the rest when these are mended; the answer stays readable. */
const MAX_FAULTS = 1_000

/** What is wrong with one file, gathered while it is read; every part of it goes on where another is faulty. */
export class Faults {
  readonly #found: Fault[] = []
  readonly #seen = new Set<string>()
  /** The paths of what is at fault, and of all that holds it. */
  readonly #paths = new Set<string>()

  /** Begins with what was found before. */
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

  /** Says nothing where something was said of this place already. */
  addOnce(place: Place, message: string): void {
    const { line, column } = place
    if (!this.#found.some((fault) => fault.line === line && fault.column === column)) this.add(place, message)
  }

  /** Whether something is wrong with what a path leads to, or with a part of it. */
  concern(path: string): boolean {
    return this.#paths.has(path)
  }

  /** Throws `invalid_request` with every fault in the order of the file; returns when there is none. */
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
