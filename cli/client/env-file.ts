import { wrong } from '../fault.ts'

/** A variable, as the API and the file have it. */
export interface FileVariable {
  key: string
  value: string
}

/** What a file has. */
export interface FileContent {
  variables: FileVariable[]
  /** What may be meant differently. */
  warnings: string[]
}

/** Values that need no quotes. */
const PLAIN = /^[A-Za-z0-9_./:@%+,-]*$/
const QUOTES = ["'", '`', '"']
/** The beginning of an entry, up to its value. */
const ENTRY = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/y
const BLANK = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y

/**
 * Reads a `.env` file as `node --env-file` does, but refuses lines that node passes over or guesses at. A key that is there
 * twice has its last value, and a warning says so. `name` is the file's, for messages. Throws Fault with its name and the
 * line.
 */
export function readEnvFile(name: string, content: string): FileContent {
  const text = content.replaceAll('\r', '')
  const found = new Map<string, string>()
  const lines = new Map<string, number[]>()
  const nextLine = lineCounter(text)
  let at = 0
  while (at < text.length) {
    BLANK.lastIndex = at
    if (BLANK.test(text)) {
      at = BLANK.lastIndex
      continue
    }
    ENTRY.lastIndex = at
    const key = ENTRY.exec(text)?.[1]
    if (key === undefined) throw wrong(`${name}:${lineAt(text, at)}: must be a comment or KEY=value`)
    const { value, end } = valueAt(name, text, ENTRY.lastIndex)
    found.set(key, value)
    const known = lines.get(key) ?? []
    known.push(nextLine(at))
    lines.set(key, known)
    at = end
  }
  return {
    variables: [...found].map(([key, value]) => ({ key, value })),
    warnings: [...lines].flatMap(([key, of]) => repetition(name, key, of)),
  }
}

/** A warning if a key is in several lines. */
function repetition(name: string, key: string, lines: readonly number[]): string[] {
  const before = lines.slice(0, -1)
  if (before.length === 0) return []
  const where = `${before.length === 1 ? 'line' : 'lines'} ${before.join(', ')}`
  return [`${name}:${lines.at(-1)}: ${key} is also set in ${where}: the last one counts`]
}

/** The value that begins at a position, and where the next line does. */
function valueAt(name: string, text: string, start: number): { value: string; end: number } {
  const quote = text[start]
  if (quote !== undefined && QUOTES.includes(quote)) return quotedAt(name, text, start, quote)
  const lineEnd = text.indexOf('\n', start)
  const end = lineEnd < 0 ? text.length : lineEnd
  const line = text.slice(start, end)
  const comment = line.indexOf('#')
  const value = comment < 0 ? line : line.slice(0, comment)
  return { value: value.replace(/[ \t]+$/, ''), end: end + 1 }
}

function quotedAt(name: string, text: string, start: number, quote: string): { value: string; end: number } {
  const close = text.indexOf(quote, start + 1)
  if (close < 0) throw wrong(`${name}:${lineAt(text, start)}: the quote ${quote} is not closed`)
  BLANK.lastIndex = close + 1
  if (!BLANK.test(text))
    throw wrong(`${name}:${lineAt(text, close)}: only a comment may follow the value in quotes`)
  const inner = text.slice(start + 1, close)
  return { value: quote === '"' ? inner.replaceAll('\\n', '\n') : inner, end: BLANK.lastIndex }
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

/** Tells the lines of positions that come in order, without reading the text again for each. */
function lineCounter(text: string): (position: number) => number {
  let line = 1
  let lineEnd = text.indexOf('\n')
  return (position) => {
    for (; lineEnd >= 0 && lineEnd < position; lineEnd = text.indexOf('\n', lineEnd + 1)) line++
    return line
  }
}

/**
 * The text of a `.env` file with these variables, in this order, and the keys of those that no quotes can hold, which are
 * left out.
 */
export function writeEnvFile(variables: readonly FileVariable[]): { text: string; leftOut: string[] } {
  const leftOut: string[] = []
  let text = ''
  for (const { key, value } of variables) {
    const written = writtenValue(value)
    if (written === null) leftOut.push(key)
    else text += `${key}=${written}\n`
  }
  return { text, leftOut }
}

function writtenValue(value: string): string | null {
  if (PLAIN.test(value)) return value
  // Readers take carriage returns for a part of line ends and drop them.
  if (value.includes('\r')) return null
  // Inside double quotes `\n` is read as a line end.
  const quote = QUOTES.find((each) => !value.includes(each) && !(each === '"' && value.includes('\\n')))
  return quote === undefined ? null : `${quote}${value}${quote}`
}
