import type { Cached } from './cache.ts'
import { chooseCoding, type Coding } from '../compression/codings.ts'
import type { FieldLines } from './fields.ts'
import type { SiteFile } from './file.ts'
import type { SiteFolder } from './folder.ts'

/** What keeping an answer costs: the object, and about as much for each of its strings in addition to the characters. */
const RESOLUTION_BYTES = 512

/** One form of a file: unencoded or encoded. */
export interface Representation {
  file: SiteFile
  /** The folder that has the file. */
  folder: SiteFolder
  coding: Coding
  fields: FieldLines
}

/** How a path is answered, the same for every client. */
export type Verdict =
  | { kind: 'malformed' }
  | { kind: 'missing' }
  | { kind: 'redirect'; status: number; location: string }
  /** The first representation is the unencoded file. */
  | { kind: 'file'; status: 200 | 404; representations: [Representation, ...Representation[]] }

/** A verdict that is kept for the next request to the path. */
export class Resolution implements Cached {
  readonly verdict: Verdict
  readonly bytes: number
  used = false
  readonly #until: number
  readonly #whenDropped: () => void

  /** `until` is how long it is valid, in milliseconds since 1970. */
  constructor(path: string, verdict: Verdict, until: number, whenDropped: () => void) {
    this.verdict = verdict
    this.bytes = RESOLUTION_BYTES + path.length + bytesOf(verdict)
    this.#until = until
    this.#whenDropped = whenDropped
  }

  get valid(): boolean {
    return this.#until === Infinity || Date.now() < this.#until
  }

  dropped(): void {
    this.#whenDropped()
  }
}

/** Returns the representation that suits an Accept-Encoding value. */
export function chooseRepresentation(
  representations: readonly [Representation, ...Representation[]],
  acceptEncoding: string | null,
): Representation {
  if (representations.length === 1) return representations[0]
  const [plain, ...encoded] = representations
  const coding = chooseCoding(
    acceptEncoding,
    encoded.map(({ coding }) => coding),
  )
  return encoded.find((representation) => representation.coding === coding) ?? plain
}

function bytesOf(verdict: Verdict): number {
  if (verdict.kind === 'redirect') return verdict.location.length
  if (verdict.kind !== 'file') return 0
  return verdict.representations.reduce(
    (sum, { fields }) => sum + RESOLUTION_BYTES + fields.validators.length + fields.all.length,
    0,
  )
}
