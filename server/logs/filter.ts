import { compileExpression, requiredText, type Expression } from './expression.ts'
import { levelOf, type LogLevel } from './level.ts'
import type { LogLine } from './lines.ts'

/** Which lines of a service's log are wanted. Times are timestamps in the format of the lines. */
export interface LineFilter {
  since: string | null
  until: string | null
  stream: LogLine['stream'] | null
  /** Instance names; null for all. */
  instances: string[] | null
  levels: readonly LogLevel[] | null
  search: Search | null
}

/** What a line must contain: a text in any case, or a match of an expression. */
export type Search = { text: string } | Expression

/** Returns the wanted lines of a block of whole stored lines, in order, each without its newline. */
export type LineMatcher = (block: string) => string[]

/** Offsets of the values in a stored line, whose fields are always written in this order. */
const TS_START = '{"ts":"'.length
const TS_END = TS_START + '2000-01-01T00:00:00.000Z'.length
const STREAM_START = TS_END + '","stream":"'.length
const STREAM_END = STREAM_START + 'stdout'.length
const TEXT_START = STREAM_END + '","line":"'.length
/** A colour as escaped by JSON. */
const COLOUR = /\\u001b\[[\d;:]*m/g
const COLOUR_START = '\\u001b['
const SHOWN_COLOUR = /\u001b\[[\d;:]*m/g

/** Whether every line is wanted. */
export function matchesAll(filter: LineFilter): boolean {
  return Object.values(filter).every((value) => value === null)
}

/** Parses `text`, or `/expression/` with an optional `i` for any case. Throws for an invalid expression. */
export function parseSearch(given: string): Search {
  const [, expression, flag] = /^\/(.+)\/(i?)$/s.exec(given) ?? []
  if (expression === undefined) return { text: given }
  const search = { expression, ignoreCase: flag === 'i' }
  compileExpression(search)
  return search
}

/** Returns a function that finds the wanted lines. */
export function lineMatcher(filter: LineFilter): LineMatcher {
  const tests = [...headTests(filter)]
  const isWanted = (line: string) => tests.every((test) => test(line))
  const { search } = filter
  if (search === null) return (block) => linesIn(block).filter(isWanted)
  const shows = textTest(search)
  const candidates = candidateFinder('text' in search ? search.text : requiredText(search))
  return (block) => candidates(block).filter((line) => isWanted(line) && shows(shownText(line)))
}

/** Returns a function that tests a text for the search. */
function textTest(search: Search): (text: string) => boolean {
  if ('expression' in search) return compileExpression(search)
  const needle = search.text.toLowerCase()
  return (text) => text.toLowerCase().includes(needle)
}

function* headTests({
  since,
  until,
  stream,
  instances,
  levels,
}: LineFilter): Generator<(line: string) => boolean> {
  if (since !== null) yield (line) => line.slice(TS_START, TS_END) >= since
  if (until !== null) yield (line) => line.slice(TS_START, TS_END) < until
  if (stream !== null) yield (line) => line.slice(STREAM_START, STREAM_END) === stream
  if (instances !== null) {
    const ends = instances.map((instance) => `,"instance":${JSON.stringify(instance)}}`)
    yield (line) => ends.some((end) => line.endsWith(end))
  }
  if (levels !== null) yield (line) => levels.includes(storedLevel(line))
}

/** The timestamp of a stored line, which begins at a place of a text. */
export function storedTime(text: string, at = 0): string {
  return text.slice(at + TS_START, at + TS_END)
}

/** The level of a stored line. */
export function storedLevel(line: string): LogLevel {
  const stream = line.slice(STREAM_START, STREAM_END) as LogLine['stream']
  // What follows the text says nothing about the level.
  const text = line.slice(TEXT_START)
  return levelOf(stream, text.includes(COLOUR_START) ? text.replaceAll(COLOUR, '') : text)
}

/** The lines of a block that are not of an access log. */
export function linesBesidesAccess(block: string): string[] {
  return linesIn(block).filter((line) => line.slice(STREAM_START, STREAM_END) !== 'access')
}

/** The lines of a block. A line that was cut off when the process was killed is left out. */
export function linesIn(block: string): string[] {
  return block.split('\n').filter((line) => line.endsWith('"}'))
}

/** The text of a line as it is shown, without colours. Parses JSON only when the text has an escape. */
function shownText(line: string): string {
  const end = line.indexOf('"', TEXT_START)
  const escape = line.indexOf('\\', TEXT_START)
  if (escape === -1 || escape > end) return line.slice(TEXT_START, end)
  const { line: text } = JSON.parse(line) as LogLine
  return text.includes('\u001b') ? text.replaceAll(SHOWN_COLOUR, '') : text
}

/**
 * Finds the lines that may contain a text in any case, without parsing each line: searches the stored block in lower case.
 * Never misses a line that contains it.
 */
function candidateFinder(text: string): LineMatcher {
  if (text === '') return linesIn
  const stored = JSON.stringify(text.toLowerCase()).slice(1, -1)
  return (block) => {
    const lower = block.toLowerCase()
    // Colours may be inside the text, and a few characters have a longer lower case, which shifts the offsets.
    if (lower.includes(COLOUR_START) || lower.length !== block.length) return linesWith(block, stored)
    const found: string[] = []
    for (let at = lower.indexOf(stored); at !== -1;) {
      const start = lower.lastIndexOf('\n', at) + 1
      const newline = lower.indexOf('\n', at)
      const end = newline === -1 ? block.length : newline
      const line = block.slice(start, end)
      if (line.endsWith('"}')) found.push(line)
      at = lower.indexOf(stored, end)
    }
    return found
  }
}

function linesWith(block: string, stored: string): string[] {
  return linesIn(block).filter((line) => line.replaceAll(COLOUR, '').toLowerCase().includes(stored))
}
