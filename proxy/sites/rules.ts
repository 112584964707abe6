import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { log, messageOf } from '../log.ts'
import { decodePath, encodePath } from './path.ts'
import { Pattern, fill, splitPath } from './pattern.ts'
import {
  MAX_SITE_FIELDS,
  MAX_SITE_RULES,
  PASSWORDS_FIELD,
  REDIRECT_STATUSES,
  RESERVED_SITE_FIELDS,
  type SiteHeaders,
  type SiteRedirect,
  type SiteRules,
} from './rules-file.ts'

/** Twice the max size of the rule files, since JSON is longer. */
const MAX_RULES_BYTES = 1024 * 1024
/** Fields of several blocks are joined in one answer; clients refuse heads that are much longer. */
const MAX_FIELDS_BYTES = 16 * 1024

/** A field of an answer. */
export type Field = readonly [name: string, value: string]

/** What a redirect rule does with a path. */
export type Outcome =
  | { kind: 'redirect'; status: number; location: string }
  /** Serves another path of the site, which is decoded. */
  | { kind: 'rewrite'; status: 200 | 404; path: string }

/** The rules of one published folder, ready to use. */
export class Rules {
  readonly #redirects: (SiteRedirect & { pattern: Pattern })[]
  readonly #headers: (SiteHeaders & { pattern: Pattern })[]

  /** Throws URIError if a path is badly encoded. */
  constructor(rules: SiteRules) {
    this.#redirects = rules.redirects.map(({ from, to, status }) => ({
      from,
      to: isRewrite(status) ? pathOf(to) : escapeRest(to),
      status,
      pattern: new Pattern(from),
    }))
    this.#headers = rules.headers.map(({ path, fields }) => ({
      path,
      // Rules of a site that an earlier version deployed may still have it.
      fields: fields.filter(([name]) => name.toLowerCase() !== PASSWORDS_FIELD),
      pattern: new Pattern(path),
    }))
  }

  /** Returns the outcome of the first rule that matches a decoded path, ignoring rules that lead to the path itself. */
  find(path: string): Outcome | null {
    const split = splitPath(path)
    for (const { pattern, to, status } of this.#redirects) {
      const taken = pattern.match(split)
      if (!taken) continue
      if (isRewrite(status)) return { kind: 'rewrite', status, path: fill(to, taken, String) }
      const filled = fill(to, taken, encodePath)
      // If a captured part is empty, two slashes (or backslashes) at the beginning would lead to another host.
      const location = to.startsWith('/') ? filled.replace(/^[/\\]+/, '/') : filled
      if (decodePath(location.split(/[?#]/, 1)[0]!) !== path) return { kind: 'redirect', status, location }
    }
    return null
  }

  /** Returns the fields of all blocks that match a decoded path, in order. */
  fieldsFor(path: string): Field[] {
    const split = splitPath(path)
    const fields: Field[] = []
    let bytes = 0
    for (const block of this.#headers) {
      if (!block.pattern.matches(split)) continue
      for (const field of block.fields) {
        bytes += field[0].length + field[1].length
        if (bytes <= MAX_FIELDS_BYTES) fields.push(field)
      }
    }
    return fields
  }
}

/** The rules of a folder without any. */
export const NO_RULES = new Rules({ redirects: [], headers: [] })

/**
 * Reads `rules.json` of a published folder, synchronously, because a table is applied in one step. Without the file there
 * are no rules. An invalid file is logged and treated as missing, so that the site is served all the same.
 */
export function readRules(folder: string): Rules {
  const file = join(folder, 'rules.json')
  try {
    const facts = statSync(file, { throwIfNoEntry: false })
    if (!facts) return NO_RULES
    if (!facts.isFile() || facts.size > MAX_RULES_BYTES)
      throw new Error(`it is not a file of at most ${MAX_RULES_BYTES} bytes`)
    return new Rules(validateRules(JSON.parse(readFileSync(file, 'utf8'))))
  } catch (error) {
    log('error', 'cannot use the rules of a site; serving it without them', {
      file,
      error: messageOf(error),
    })
    return NO_RULES
  }
}

function validateRules(value: unknown): SiteRules {
  const { redirects, headers } = value as Partial<SiteRules>
  assert(isList(redirects, MAX_SITE_RULES) && redirects.every(isRedirect), 'redirects')
  assert(isList(headers, MAX_SITE_RULES) && headers.every(isBlock), 'headers')
  return { redirects, headers }
}

function assert(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`its ${what} are invalid`)
}

function isList(value: unknown, max: number): value is unknown[] {
  return Array.isArray(value) && value.length <= max
}

function isRedirect(value: unknown): value is SiteRedirect {
  const { from, to, status } = value as Partial<SiteRedirect>
  if (!isPath(from) || typeof to !== 'string' || !REDIRECT_STATUSES.includes(status!)) return false
  return isRewrite(status) ? isPath(to) : isPath(to) || /^https?:\/\/[^/]/i.test(to)
}

function isBlock(value: unknown): value is SiteHeaders {
  const { path, fields } = value as Partial<SiteHeaders>
  return isPath(path) && isList(fields, MAX_SITE_FIELDS) && fields.every(isField)
}

/** Whether it is a field that cannot break the head of an answer or misdescribe its body. */
function isField(value: unknown): value is Field {
  if (!isList(value, 2) || value.length < 2) return false
  const [name, text] = value
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return false
  return (
    typeof text === 'string' && /^[\t\x20-\x7e]+$/.test(text) && !RESERVED_SITE_FIELDS.has(name.toLowerCase())
  )
}

function isRewrite(status: unknown): status is 200 | 404 {
  return status === 200 || status === 404
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('/') && !value.startsWith('//')
}

/** Returns the decoded path of a target. */
function pathOf(target: string): string {
  return decodeURIComponent(target.split(/[?#]/, 1)[0]!)
}

/** Escapes the characters that a field's value must not contain. */
function escapeRest(target: string): string {
  return target.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/** Appends the query of a request (with its `?`) to the location of a redirect, unless that has a query of its own. */
export function withQuery(location: string, query: string): string {
  if (query === '' || location.includes('?')) return location
  const fragment = location.indexOf('#')
  return fragment < 0 ? location + query : location.slice(0, fragment) + query + location.slice(fragment)
}
