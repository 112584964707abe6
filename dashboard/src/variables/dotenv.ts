import type { EnvVar } from '../api/types.ts'

export interface Parsed {
  variables: EnvVar[]
  /** One sentence for each line that could not be read. */
  faults: string[]
}

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*/
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/**
 * Reads the text of a `.env` file as the dotenv tools do: comments, `export`, single quotes (literal), double quotes
 * (with \n, \" and \\), values over several lines inside quotes. The last of equal names wins.
 */
export function parseDotenv(text: string): Parsed {
  const values = new Map<string, string>()
  const faults: string[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    if (/^\s*(#|$)/.test(line)) continue
    const match = ASSIGNMENT.exec(line)
    if (!match) {
      faults.push(`Line ${index + 1} is not KEY=value.`)
      continue
    }
    const start = index
    let rest = line.slice(match[0].length)
    const quote = /^["']/.exec(rest)?.[0]
    if (quote === undefined) {
      values.set(match[1]!, rest.replace(/(^|\s+)#.*$/, '').trimEnd())
      continue
    }
    let end = closing(rest, quote)
    if (end < 0) {
      rest = [rest, ...lines.slice(index + 1)].join('\n')
      end = closing(rest, quote)
      index += end < 0 ? 0 : rest.slice(0, end).split('\n').length - 1
    }
    if (end < 0) {
      faults.push(`Line ${start + 1} has no closing ${quote}.`)
    } else values.set(match[1]!, unquote(rest.slice(1, end), quote))
  }
  return { variables: [...values].map(([key, value]) => ({ key, value })), faults }
}

/** Index of the quote that ends a value which begins with one, or -1. */
function closing(text: string, quote: string): number {
  for (let at = 1; at < text.length; at++) {
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
