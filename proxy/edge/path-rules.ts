import { ascii } from '../http1/bytes.ts'
import type { FieldChanges } from '../http1/change-fields.ts'
import type { Edge } from '../protocol.ts'
import { decodePath } from '../sites/path.ts'
import { Pattern, splitPath } from '../sites/pattern.ts'
import { Rules, type Outcome } from '../sites/rules.ts'

/** Paths whose facts are kept: those of an application's pages. When there are more, all are forgotten. */
const MAX_KEPT = 1_000
/** Longer paths are looked at each time. */
const MAX_KEPT_LENGTH = 256

/** What the edge says about a path. */
export interface PathFacts {
  /** Where it redirects, and how. */
  moved: Extract<Outcome, { kind: 'redirect' }> | null
  /** Whether it needs no password. */
  open: boolean
  /** Null if fields stay as they are. */
  fields: FieldChanges | null
}

interface HeaderRule {
  pattern: Pattern
  name: string
  value: string | null
}

/** Whatever depends on the path of a request. */
export class PathRules {
  readonly #redirects: Rules
  readonly #open: readonly Pattern[]
  readonly #headers: readonly HeaderRule[]
  readonly #kept = new Map<string, PathFacts>()

  private constructor(
    redirects: NonNullable<Edge['redirects']>,
    open: readonly string[],
    headers: NonNullable<Edge['headers']>,
  ) {
    this.#redirects = new Rules({ redirects, headers: [] })
    this.#open = open.map((path) => new Pattern(path))
    this.#headers = headers.map(({ path, name, value }) => ({ pattern: new Pattern(path), name, value }))
  }

  /** Returns null if nothing depends on the path. */
  static of({ redirects = [], basic_auth, headers = [] }: Edge): PathRules | null {
    const open = basic_auth?.except_paths ?? []
    const rules = redirects.length + open.length + headers.length
    return rules === 0 ? null : new PathRules(redirects, open, headers)
  }

  /** Returns what is said about the path of a request target, which is without its query. */
  at(path: string): PathFacts {
    const kept = this.#kept.get(path)
    if (kept) return kept
    const facts = this.#find(path)
    if (path.length > MAX_KEPT_LENGTH) return facts
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(path, facts)
    return facts
  }

  #find(path: string): PathFacts {
    const decoded = decodePath(path)
    const outcome = decoded === null ? null : this.#redirects.find(decoded)
    return {
      moved: outcome?.kind === 'redirect' ? outcome : null,
      open: decoded !== null && isPlain(path, decoded) && this.#isOpen(decoded),
      fields: this.#fieldsFor(decoded ?? path),
    }
  }

  #isOpen(decoded: string): boolean {
    const split = splitPath(decoded)
    return this.#open.some((pattern) => pattern.matches(split))
  }

  /** Of several rules for one field, the last one that matches counts. */
  #fieldsFor(decoded: string): FieldChanges | null {
    const split = splitPath(decoded)
    const fields = new Map<string, HeaderRule>()
    for (const rule of this.#headers)
      if (rule.pattern.matches(split)) fields.set(rule.name.toLowerCase(), rule)
    if (fields.size === 0) return null
    const set = [...fields.values()].filter(({ value }) => value !== null)
    return {
      removed: [...fields.keys()].map(ascii),
      added: set.map(({ name, value }) => `${name}: ${value}\r\n`).join(''),
    }
  }
}

/**
 * Whether every application reads a path as it is written. One that decodes it twice, reads `..;` as Java's servers do or
 * normalizes characters could find another path in it, and a password must not be needed less for that.
 */
function isPlain(path: string, decoded: string): boolean {
  if (!/^[\x20-\x7e]*$/.test(decoded) || /[%\\]|\/\//.test(decoded)) return false
  if (/%2e|%3b/i.test(path)) return false
  return decoded.split('/').every((segment) => !/^\.{1,2}(?:;|$)/.test(segment))
}
