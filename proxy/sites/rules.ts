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

/** Twice what the rule files may have, as JSON spells more of it out. */
const MAX_RULES_BYTES = 1024 * 1024
/** Fields of several blocks come together in one answer; clients refuse heads that are much longer. */
const MAX_FIELDS_BYTES = 16 * 1024

/** A field of an answer. */
export type Field = readonly [name: string, value: string]

/** What a redirect rule makes of a path. */
export type Outcome =
  | { kind: 'redirect'; status: number; location: string }
  /** Another path of the site is served, decoded. */
  | { kind: 'rewrite'; status: 200 | 404; path: string }

/** The rules of one published folder, ready to be asked. */
export class Rules {
  readonly #redirects: (SiteRedirect & { pattern: Pattern })[]
  readonly #headers: (SiteHeaders & { pattern: Pattern })[]

  /** Throws URIError when a path is badly encoded. */
  constructor(rules: SiteRules) {
    this.#redirects = rules.redirects.map(({ from, to, status }) => ({
      from,
      to: isRewrite(status) ? pathOf(to) : escapeRest(to),
      status,
      pattern: new Pattern(from),
    }))
    this.#headers = rules.headers.map(({ path, fields }) => ({
      path,
      // Those of a site that was deployed by an earlier version may have it.
      fields: fields.filter(([name]) => name.toLowerCase() !== PASSWORDS_FIELD),
      pattern: new Pattern(path),
    }))
  }

  /** What the first rule that matches a decoded path says; one that leads to the path itself is passed over. */
  find(path: string): Outcome | null {
    const split = splitPath(path)
    for (const { pattern, to, status } of this.#redirects) {
      const taken = pattern.match(split)
      if (!taken) continue
      if (isRewrite(status)) return { kind: 'rewrite', status, path: fill(to, taken, String) }
      const filled = fill(to, taken, encodePath)
      // Where what was taken is empty, two slashes, of whatever kind, would lead to another host.
      const location = to.startsWith('/') ? filled.replace(/^[/\\]+/, '/') : filled
      if (decodePath(location.split(/[?#]/, 1)[0]!) !== path) return { kind: 'redirect', status, location }
    }
    return null
  }

  /** The fields that all blocks that match a decoded path set, in their order. */
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

/** Of a folder that has none. */
export const NO_RULES = new Rules({ redirects: [], headers: [] })

/**
 * Reads `rules.json` of a published folder, at once, as a table is applied in one step. Without the file there are no
 * rules; a file that is not right is told in the log and counts as none, so that the site is served all the same.
 */
export function readRules(folder: string): Rules {
  const file = join(folder, 'rules.json')
  try {
    const facts = statSync(file, { throwIfNoEntry: false })
    if (!facts) return NO_RULES
    if (!facts.isFile() || facts.size > MAX_RULES_BYTES)
      throw new Error(`it is no file of at most ${MAX_RULES_BYTES} bytes`)
    return new Rules(validateRules(JSON.parse(readFileSync(file, 'utf8'))))
  } catch (error) {
    log('error', 'the rules of a site cannot be used; it is served without', {
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
  if (!holds) throw new Error(`its ${what} are not as they should be`)
}

function isList(value: unknown, most: number): value is unknown[] {
  return Array.isArray(value) && value.length <= most
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

/** What would break the head of an answer, or lie about its body, is no field here. */
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

/** The decoded path of a target. */
function pathOf(target: string): string {
  return decodeURIComponent(target.split(/[?#]/, 1)[0]!)
}

/** Characters that may not stand in a field's value as they are. */
function escapeRest(target: string): string {
  return target.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent)
}
