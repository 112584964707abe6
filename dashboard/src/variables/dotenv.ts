import type { EnvVar } from '../api/types.ts'

export interface Parsed {
  variables: EnvVar[]
  /** A sentence for each of the first lines that could not be read, and one for the rest. */
  faults: string[]
}

/** Faults that are told one by one. */
const MAX_TOLD = 5

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*/
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/**
 * Reads the text of a `.env` file as the dotenv tools do: comments, `export`, single quotes (literal), double quotes
 * (with \n, \" and \\), values over several lines inside quotes. The last of equal names wins.
 */
export function parseDotenv(text: string): Parsed {
  const values = new Map<string, string>()
  const faults: string[] = []
  const body = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  let number = 0
  for (let at = 0, stop = 0; at <= body.length; at = stop + 1) {
    number++
    stop = endOfLine(body, at)
    const line = body.slice(at, stop)
    if (/^\s*(#|$)/.test(line)) continue
    const match = ASSIGNMENT.exec(line)
    if (!match) {
      faults.push(`Line ${number} is not KEY=value.`)
      continue
    }
    const start = at + match[0].length
    const quote = /^["']/.exec(line.slice(match[0].length))?.[0]
    if (quote === undefined) {
      values.set(
        match[1]!,
        body
          .slice(start, stop)
          .replace(/(^|\s+)#.*$/, '')
          .trimEnd(),
      )
      continue
    }
    const end = closing(body, start, quote)
    if (end < 0) {
      faults.push(`Line ${number} has no closing ${quote}.`)
      continue
    }
    const value = body.slice(start + 1, end)
    values.set(match[1]!, unquote(value, quote))
    number += value.split('\n').length - 1
    stop = endOfLine(body, end)
  }
  return { variables: [...values].map(([key, value]) => ({ key, value })), faults: told(faults) }
}

/** What is no .env file at all has a fault in every line. */
function told(faults: readonly string[]): string[] {
  const more = faults.length - MAX_TOLD
  if (more <= 1) return [...faults]
  return [...faults.slice(0, MAX_TOLD), `${more} more lines could not be read.`]
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Index of the quote that ends a value which begins with one at `start`, or -1. */
function closing(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return -1
}

function unquote(text: string, quote: string): string {
  return quote === "'"
    ? text
    : text.replace(/\\([nrt"\\$])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped)
}

/** The variables as the text of a `.env` file, which parseDotenv reads back unchanged. */
export function formatDotenv(variables: readonly EnvVar[]): string {
  return variables.map(({ key, value }) => `${key}=${quoted(value)}\n`).join('')
}

function quoted(value: string): string {
  if (/^[\w./:@%+,=*?&~!^()[\]{}<>|;-]*$/.test(value)) return value
  if (!value.includes("'") && !value.includes('\r')) return `'${value}'`
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\r', '\\r')}"`
}

/** Whether pasted text is meant as variables rather than as one name. */
export function looksLikeDotenv(text: string): boolean {
  return ASSIGNMENT.test(text) || text.trim().includes('\n')
}
