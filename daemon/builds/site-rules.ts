import {
  MAX_SITE_FIELDS,
  MAX_SITE_RULES,
  PASSWORDS_FIELD,
  REDIRECT_STATUSES,
  RESERVED_SITE_FIELDS,
  type SiteHeaders,
  type SiteRedirect,
} from '#proxy/sites/rules-file.ts'
import { patternFault, targetFault, unknownPlaceholder } from '#server/text/path-patterns.ts'

/** A larger file is not a rule file: rules are written by hand or by a small script. */
export const MAX_RULES_BYTES = 256 * 1024
/** The longest line that makes sense is a content security policy; a longer value does not fit into response headers. */
const MAX_LINE_CHARACTERS = 8_000
/** At most this many faults are logged one by one, since people read the log. */
const MAX_NOTES = 50

const DEFAULT_STATUS = 301

/** The lines of a rule file with their numbers, and remarks on them. */
class Lines {
  readonly lines: { number: number; text: string }[] = []
  #notes: string[] = []
  #unlisted = 0

  constructor(text: string) {
    if (Buffer.byteLength(text) > MAX_RULES_BYTES) {
      this.#notes.push(`the file is ignored: it is larger than ${MAX_RULES_BYTES / 1024} KiB`)
      return
    }
    for (const [index, line] of text
      .replace(/^\ufeff/, '')
      .split(/\r\n|\r|\n/)
      .entries()) {
      const number = index + 1
      if (line.length > MAX_LINE_CHARACTERS)
        this.ignored(number, `it has more than ${MAX_LINE_CHARACTERS} characters`)
      else if (line.trim() !== '' && !line.trimStart().startsWith('#'))
        this.lines.push({ number, text: line })
    }
  }

  get notes(): string[] {
    if (this.#unlisted === 0) return this.#notes
    return [...this.#notes, `${this.#unlisted} more line${this.#unlisted === 1 ? ' is' : 's are'} ignored`]
  }

  ignored(number: number, why: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push(`line ${number} is ignored: ${why}`)
    else this.#unlisted++
  }
}

/**
 * Reads the text of a `_redirects` file with one `from to [status]` per line. An unsupported line is ignored with a note
 * that names it.
 */
export function parseRedirects(text: string): { redirects: SiteRedirect[]; notes: string[] } {
  const file = new Lines(text)
  const redirects: SiteRedirect[] = []
  for (const { number, text } of file.lines) {
    const rule = parseRedirect(text)
    if (typeof rule === 'string') file.ignored(number, rule)
    else if (redirects.length === MAX_SITE_RULES)
      file.ignored(number, `there are already ${MAX_SITE_RULES} rules`)
    else redirects.push(rule)
  }
  return { redirects, notes: file.notes }
}

/** Whether the rules answer `/` with something other than the index page, which the folder lacks. */
export function answersRoot(redirects: SiteRedirect[]): boolean {
  return redirects.some(
    ({ from, to, status }) =>
      (from === '/' || from === '/*') && status !== 404 && !/^\/(index\.html)?$/.test(to),
  )
}

/** A rule, or why the line is not one. */
function parseRedirect(line: string): SiteRedirect | string {
  const words = line.trim().split(/\s+/)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const [from, ...rest] = comment < 0 ? words : words.slice(0, comment)
  const position = rest.findIndex((word) => word.startsWith('/') || /^https?:\/\//i.test(word))
  if (position < 0) return 'it has no target: write a path or a URL after the path to match'
  if (position > 0) return `conditions on the query (${rest[0]}) are not supported`
  const [to, statusWord = String(DEFAULT_STATUS), ...conditions] = rest as [string, ...string[]]
  const fault = patternFault(from!) ?? targetFault(to)
  if (fault !== null) return fault
  if (/^\d+!$/.test(statusWord)) return `a forced status (${statusWord}) is not supported`
  if (!/^\d+$/.test(statusWord)) return `conditions (${statusWord}) are not supported`
  if (conditions.length > 0) return `conditions (${conditions.join(' ')}) are not supported`
  const status = REDIRECT_STATUSES.find((known) => known === Number(statusWord))
  if (status === undefined) return `the status ${statusWord} is not one of ${REDIRECT_STATUSES.join(', ')}`
  if ((status === 200 || status === 404) && !to.startsWith('/'))
    return `the target of a ${status} must be a path of the site: requests are not forwarded to other servers`
  const unknown = unknownPlaceholder(from!, to)
  if (unknown !== undefined) return `:${unknown} in the target does not occur in ${from}`
  return { from: from!, to, status }
}

/**
 * Reads the text of a `_headers` file: a path on a line of its own, then indented lines of `Name: value`. An unsupported
 * line is ignored with a note that names it.
 */
export function parseHeaders(text: string): { headers: SiteHeaders[]; notes: string[] } {
  const file = new Lines(text)
  const headers: SiteHeaders[] = []
  // The fields under an ignored path are ignored with it, without notes of their own.
  let block: SiteHeaders | 'ignored' | null = null
  for (const { number, text } of file.lines) {
    if (/^\S/.test(text)) {
      const path = text.trim()
      const fault =
        headers.length === MAX_SITE_RULES ? `there are already ${MAX_SITE_RULES} blocks` : patternFault(path)
      if (fault === null) headers.push((block = { path, fields: [] }))
      else {
        file.ignored(number, fault)
        block = 'ignored'
      }
      continue
    }
    if (block === 'ignored') continue
    const field = parseField(text)
    if (block === null) file.ignored(number, 'it has no path before it')
    else if (typeof field === 'string') file.ignored(number, field)
    else if (block.fields.length === MAX_SITE_FIELDS)
      file.ignored(number, `its path already has ${MAX_SITE_FIELDS} headers`)
    else block.fields.push(field)
  }
  return { headers: headers.filter(({ fields }) => fields.length > 0), notes: file.notes }
}

/** A header field, or why the line is not one. */
function parseField(line: string): [string, string] | string {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0)).trim()
  const value = line.slice(colon + 1).trim()
  if (colon < 0) return 'it is not a header: write it as Name: value'
  if (name.startsWith('!')) return 'removing a header (!) is not supported'
  // Names are the token of RFC 9110 5.6.2. Values are ASCII only, since recipients disagree about other bytes.
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return `${JSON.stringify(name)} is not a valid header name`
  if (!/^[\t\x20-\x7e]+$/.test(value)) return `the value of ${name} must be visible ASCII`
  if (RESERVED_SITE_FIELDS.has(name.toLowerCase())) return `${name} is set only by the server`
  if (name.toLowerCase() === PASSWORDS_FIELD)
    return 'passwords (Basic-Auth) are not supported: the pages are open to everyone'
  return [name, value]
}
