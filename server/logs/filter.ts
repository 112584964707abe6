import { RE2JS } from 're2js'
import { AppError, messageOf } from '../errors.ts'
import type { LogLine } from '../log-lines.ts'

/** Which lines of a service's log are wanted; moments are timestamps as lines have them. */
export interface LineFilter {
  since: string | null
  until: string | null
  stream: LogLine['stream'] | null
  /** Names of instances; null for all. */
  instances: string[] | null
  search: Search | null
}

/** What a line has to hold: a text in any case, or an expression. */
export type Search = { text: string } | { expression: string; ignoreCase: boolean }

/** Takes the lines that are wanted out of a block of whole stored lines, in their order, each without its newline. */
export type LineMatcher = (block: string) => string[]

/** Time grows with the length of a line times this, at most: RE2's program of an expression, in instructions. */
const MAX_PROGRAM = 2_500
/** Characters with what is repeated written out: more cannot become so small a program, and compiling takes as long. */
const MAX_WRITTEN_OUT = 4 * MAX_PROGRAM
/** A literal run, an escape, a class, a repetition, or one character of an expression (RE2's syntax). */
const TOKENS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gs
/** Where the values stand in a stored line, whose fields are always written in this order. */
const TS_START = '{"ts":"'.length
const TS_END = TS_START + '2000-01-01T00:00:00.000Z'.length
const STREAM_START = TS_END + '","stream":"'.length
const STREAM_END = STREAM_START + 'stdout'.length
/** A colour as JSON has it. */
const COLOUR = /\\u001b\[[\d;:]*m/g
const COLOUR_START = '\\u001b['
const SHOWN_COLOUR = /\u001b\[[\d;:]*m/g

/** Whether every line is wanted. */
export function takesAll(filter: LineFilter): boolean {
  return Object.values(filter).every((value) => value === null)
}

/** `text`, or `/expression/` with an `i` behind it for any case. Throws `invalid_request`. */
export function parseSearch(given: string): Search {
  const [, expression, flag] = /^\/(.+)\/(i?)$/s.exec(given) ?? []
  if (expression === undefined) return { text: given }
  const search = { expression, ignoreCase: flag === 'i' }
  compileExpression(search)
  return search
}

/** What finds the wanted lines. */
export function lineMatcher(filter: LineFilter): LineMatcher {
  const tests = [...headTests(filter)]
  const isWanted = (line: string) => tests.every((test) => test(line))
  const { search } = filter
  if (search === null) return (block) => linesIn(block).filter(isWanted)
  if ('expression' in search) {
    const found = compileExpression(search)
    return (block) => linesIn(block).filter((line) => isWanted(line) && found(shownText(line)))
  }
  const needle = search.text.toLowerCase()
  const candidates = candidateFinder(needle)
  return (block) =>
    candidates(block).filter((line) => isWanted(line) && shownText(line).toLowerCase().includes(needle))
}

function* headTests({ since, until, stream, instances }: LineFilter): Generator<(line: string) => boolean> {
  if (since !== null) yield (line) => line.slice(TS_START, TS_END) >= since
  if (until !== null) yield (line) => line.slice(TS_START, TS_END) < until
  if (stream !== null) yield (line) => line.slice(STREAM_START, STREAM_END) === stream
  if (instances !== null) {
    const ends = instances.map((instance) => `,"instance":${JSON.stringify(instance)}}`)
    yield (line) => ends.some((end) => line.endsWith(end))
  }
}

/** The lines of a block. A line that a kill cut off is none. */
export function linesIn(block: string): string[] {
  return block.split('\n').filter((line) => line.endsWith('"}'))
}

/** What a line shows: its text without colours. */
function shownText(line: string): string {
  const { line: text } = JSON.parse(line) as LogLine
  return text.includes('\u001b') ? text.replaceAll(SHOWN_COLOUR, '') : text
}

/**
 * Finds the lines that may hold a text, without taking every line apart: the text is looked for in the block as it is
 * stored, in lower case. Every line that does hold it is among them.
 */
function candidateFinder(needle: string): LineMatcher {
  const stored = JSON.stringify(needle).slice(1, -1)
  return (block) => {
    const lower = block.toLowerCase()
    // Colours may stand within the text; and a few characters grow when they become small ones.
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

function compileExpression({ expression, ignoreCase }: Extract<Search, { expression: string }>) {
  try {
    if (writtenOut(expression) > MAX_WRITTEN_OUT) throw new Error('it is too large: repeat less in it')
    const compiled = RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_PROGRAM) throw new Error('it is too large: repeat less in it')
    return (text: string) => compiled.test(text)
  } catch (cause) {
    throw new AppError(
      'invalid_request',
      `search: the expression cannot be used (RE2 syntax, without look-around and backreferences): ${messageOf(cause)}`,
      { cause },
    )
  }
}

/** How long an expression is with what it repeats written out. */
function writtenOut(expression: string): number {
  const outer: number[] = []
  let length = 0
  let last = 0
  for (const { 0: token, groups } of expression.matchAll(TOKENS)) {
    const times =
      groups?.least === undefined ? null : Math.max(Number(groups.least), Number(groups.most ?? 0))
    if (token === '(') {
      outer.push(length)
      length = last = 0
    } else if (token === ')' && outer.length > 0) {
      last = length + 1
      length = outer.pop()! + last
    } else {
      // What is repeated was counted once already.
      const added = times === null ? (token.startsWith('\\Q') ? token.length : 1) : last * times - last
      length += Math.max(0, added)
      last = times === null ? added : last * times
    }
  }
  return outer.reduce((sum, each) => sum + each, length)
}
