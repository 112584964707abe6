/** The parts of a path that a pattern captured, by name; the rest is `splat`. All are percent-decoded. */
export type Taken = ReadonlyMap<string, string>

/**
 * A path in which a segment `:name` captures one segment and a final `*` captures the rest. A slash at the end of either
 * side does not matter, and `/x/*` matches `/x` too. Matching walks over the segments once.
 */
export class Pattern {
  readonly #segments: readonly string[]
  /** The text before the `*`; null without one. */
  readonly #prefix: string | null

  /** `text` may be percent-encoded. Throws URIError if its encoding is invalid. */
  constructor(text: string) {
    const open = text.endsWith('*')
    const segments = segmentsOf(open ? text.slice(0, -1) : text)
    this.#prefix = open ? (text.endsWith('/*') ? '' : decodeURIComponent(segments.pop() ?? '')) : null
    this.#segments = segments.map((segment) => decodeURIComponent(segment))
  }

  /** Whether the pattern matches. This costs at most its own number of segments. */
  matches({ segments }: SplitPath): boolean {
    const own = this.#segments
    if (segments.length < own.length || (this.#prefix === null && segments.length > own.length)) return false
    if (!own.every((pattern, index) => isPlaceholder(pattern) || pattern === segments[index])) return false
    return this.#prefix === null || (segments[own.length] ?? '').startsWith(this.#prefix)
  }

  /** Returns what the pattern captures from a path; null if it does not match. */
  match(path: SplitPath): Taken | null {
    if (!this.matches(path)) return null
    const { segments, slash } = path
    const own = this.#segments
    const taken = new Map<string, string>()
    for (const [index, pattern] of own.entries()) {
      if (isPlaceholder(pattern)) taken.set(pattern.slice(1), segments[index]!)
    }
    if (this.#prefix === null) return taken
    const rest = segments.slice(own.length).join('/').slice(this.#prefix.length)
    return taken.set('splat', slash && rest !== '' ? `${rest}/` : rest)
  }
}

/** A decoded path in segments, to be compared with many patterns. */
export interface SplitPath {
  segments: readonly string[]
  /** Whether it ends with a slash. */
  slash: boolean
}

export function splitPath(path: string): SplitPath {
  return { segments: segmentsOf(path), slash: path.endsWith('/') }
}

/**
 * Replaces `:name` and `:splat` by what was captured. A value after a slash loses its own leading slash: `/blog*` captures
 * `/x` of `/blog/x`, and a target that begins with two slashes would lead to another host.
 */
export function fill(template: string, taken: Taken, encode: (piece: string) => string): string {
  return template.replaceAll(/:([A-Za-z]\w*)/g, (whole, name: string, at: number) => {
    const piece = taken.get(name)
    if (piece === undefined) return whole
    return encode(template[at - 1] === '/' && piece.startsWith('/') ? piece.slice(1) : piece)
  })
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '')
}

function isPlaceholder(segment: string): boolean {
  return /^:[A-Za-z]\w*$/.test(segment)
}
