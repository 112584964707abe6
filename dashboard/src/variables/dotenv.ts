import type { EnvVar } from '../api/types.ts'

export interface Parsed {
  variables: EnvVar[]
  /** A sentence for each of the first lines that could not be read, and one for the rest. */
  faults: string[]
  /** What was read, but may be meant differently. */
  notes: string[]
}

/** How many errors, and notes, are shown one by one. */
const MAX_SHOWN = 5

const ASSIGNMENT = /^\s*(?:export\s+)?([\w.-]+)(?:[ \t]*=|:[ \t]+)[ \t]*/
/** The first line of a key or a certificate (RFC 7468). */
const PEM = /^-----BEGIN ([A-Z0-9 ]+)-----$/

/**
 * Reads the text of a `.env` file as the npm package dotenv does: comments, `export`, three kinds of quotes, of which
 * the double ones support \n and \r, and values over several lines inside quotes. The last of equal names wins.
 */
export function parseDotenv(text: string): Parsed {
  const reading = new Reading(text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n'))
  return reading.all()
}

class Reading {
  readonly #body: string
  readonly #values = new Map<string, string>()
  /** The line that each key was set in last. */
  readonly #lines = new Map<string, number>()
  readonly #faults: string[] = []
  readonly #notes: string[] = []
  #line = 0

  constructor(body: string) {
    this.#body = body
  }

  all(): Parsed {
    for (let at = 0, stop = 0; at <= this.#body.length; at = stop + 1) {
      this.#line++
      stop = this.#read(at, endOfLine(this.#body, at))
    }
    return {
      variables: [...this.#values].map(([key, value]) => ({ key, value })),
      faults: shortened(this.#faults, 'could not be read'),
      notes: shortened(this.#notes, 'may be meant differently'),
    }
  }

  /** Reads the line between two indexes, and the lines that its value continues on; returns where that ends. */
  #read(at: number, stop: number): number {
    const line = this.#body.slice(at, stop)
    if (/^\s*(#|$)/.test(line)) return stop
    const [whole, key] = ASSIGNMENT.exec(line) ?? []
    if (whole === undefined || key === undefined) return this.#fail(stop, 'is not KEY=value.')
    const start = at + whole.length
    const quote = /^["'`]/.exec(line.slice(whole.length))?.[0]
    const end = quote === undefined ? -1 : closing(this.#body, start, quote)
    if (quote !== undefined && end >= 0) {
      this.#keepQuoted(key, quote, this.#body.slice(start + 1, end))
      return endOfLine(this.#body, end)
    }
    if (quote !== undefined && !line.slice(whole.length + 1).includes(quote))
      return this.#fail(stop, `has no closing ${quote}.`)
    return this.#readBare(key, start, stop)
  }

  #keepQuoted(key: string, quote: string, written: string): void {
    if (quote === '"' && /\\["$\\t]/.test(written))
      this.#note(key, String.raw`keeps its backslashes: only \n and \r are read.`)
    this.#keep(key, quote === '"' ? withLineEnds(written) : written)
    this.#line += written.split('\n').length - 1
  }

  #readBare(key: string, start: number, stop: number): number {
    const written = this.#body.slice(start, stop)
    const name = PEM.exec(written.trim())?.[1]
    const end = name === undefined ? -1 : this.#body.indexOf(`-----END ${name}-----`, stop)
    if (end >= 0) {
      const last = endOfLine(this.#body, end)
      const value = this.#body.slice(start, last).trim()
      this.#note(key, 'is read up to its END line.')
      this.#keep(key, value)
      this.#line += value.split('\n').length - 1
      return last
    }
    const comment = written.indexOf('#')
    if (comment > 0 && !/\s/.test(written[comment - 1]!))
      this.#note(key, 'ends before #, which begins a comment: quote it if it is part of the value.')
    const value = (comment < 0 ? written : written.slice(0, comment)).trim()
    const bare = /^(["'`])[^]*\1$/.test(value) ? value.slice(1, -1) : value
    this.#keep(key, value.startsWith('"') ? withLineEnds(bare) : bare)
    return stop
  }

  #keep(key: string, value: string): void {
    const before = this.#lines.get(key)
    if (before !== undefined)
      this.#note(key, `is set a second time: this value is used, that of line ${before} is not.`)
    this.#lines.set(key, this.#line)
    this.#values.set(key, value)
  }

  #note(key: string, message: string): void {
    this.#notes.push(`Line ${this.#line}: ${key} ${message}`)
  }

  #fail(stop: number, message: string): number {
    this.#faults.push(`Line ${this.#line} ${message}`)
    return stop
  }
}

function withLineEnds(text: string): string {
  return text.replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\r`, '\r')
}

/** A file that is not a `.env` file at all has an error in every line. */
function shortened(sentences: readonly string[], about: string): string[] {
  const more = sentences.length - MAX_SHOWN
  if (more <= 1) return [...sentences]
  return [...sentences.slice(0, MAX_SHOWN), `${more} more lines ${about}.`]
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/**
 * Index of the quote that closes the one at `start`: the first without a backslash, otherwise the last before it, if
 * only a comment follows. -1 if there is none.
 */
function closing(text: string, start: number, quote: string): number {
  const last = text.lastIndexOf(quote)
  const escaped: number[] = []
  for (let at = start + 1; at <= last; at++) {
    if (text[at] === '\\' && text[at + 1] === quote) escaped.push(++at)
    else if (text[at] === quote) {
      escaped.push(at)
      break
    }
  }
  return escaped.findLast((at) => /^[ \t]*(#.*)?$/.test(text.slice(at + 1, endOfLine(text, at)))) ?? -1
}

/**
 * The variables as the text of a `.env` file, which parseDotenv reads back unchanged, except for those that cannot be
 * written.
 */
export function formatDotenv(variables: readonly EnvVar[]): string {
  return variables
    .map(({ key, value }) => [key, quoted(value)])
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

/** Whether a value can be written in a `.env` file: one with every kind of quote and several lines cannot. */
export function isWritable({ value }: EnvVar): boolean {
  return quoted(value) !== null
}

function quoted(value: string): string | null {
  if (/^[\w./:@%+,=*?&~!^()[\]{}<>|;-]*$/.test(value)) return value
  // A backslash at the end would escape the quote.
  const isOpen = value.endsWith('\\')
  for (const quote of isOpen || value.includes('\r') ? [] : ["'", '`', '"'])
    if (!value.includes(quote) && !(quote === '"' && /\\[nr]/.test(value))) return `${quote}${value}${quote}`
  if (!isOpen && !value.includes('"') && !/\\[nr]/.test(value))
    return `"${value.replaceAll('\r', String.raw`\r`)}"`
  return !/[#\r\n]/.test(value) && value.trim() === value && !/^["'`]/.test(value) ? value : null
}

/** Whether pasted text is meant as variables rather than as one name. */
export function looksLikeDotenv(text: string): boolean {
  return ASSIGNMENT.test(text) || text.trim().includes('\n')
}
