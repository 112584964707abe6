import type { Cached } from './cache.ts'
import { chooseCoding, type Coding } from '../compression/codings.ts'
import type { FieldLines } from './fields.ts'
import type { SiteFile } from './file.ts'
import type { SiteFolder } from './folder.ts'

/** What keeping an answer costs: the object, and each of its strings about this much beside its characters. */
const RESOLUTION_BYTES = 512

/** One form of a file: as it is, or encoded. */
export interface Representation {
  file: SiteFile
  /** Whose file it is. */
  folder: SiteFolder
  coding: Coding
  fields: FieldLines
}

/** How a path is answered, whoever asks. */
export type Verdict =
  | { kind: 'malformed' }
  | { kind: 'missing' }
  | { kind: 'redirect'; status: number; location: string }
  /** The first representation is the file as it is. */
  | { kind: 'file'; status: 200 | 404; representations: [Representation, ...Representation[]] }

/** A verdict as it is kept for the next request to the path. */
export class Resolution implements Cached {
  readonly verdict: Verdict
  readonly bytes: number
  used = false
  readonly #until: number
  readonly #whenDropped: () => void

  /** `until` is when it ends to be right, in milliseconds since 1970. */
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

/** The representation that suits an Accept-Encoding value. */
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
