import type { LogLine } from './lines.ts'

/** From the least to the most urgent. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A level that is not near the beginning of a line is part of what the line says. */
const HEAD_CHARACTERS = 120
/** Programs that write JSON may put the level behind the message. */
const JSON_CHARACTERS = 2_048

/** What programs, their libraries and syslog call the levels, in lower case. */
const LEVELS_BY_WORD = new Map<string, LogLevel>([
  ...as('debug', 'trace', 'trce', 'trc', 'verbose', 'debug', 'dbug', 'dbg'),
  ...as('info', 'info', 'inf', 'information', 'notice'),
  ...as('warn', 'warn', 'warning', 'wrn'),
  ...as('error', 'error', 'err', 'severe', 'fail', 'fatal', 'ftl', 'crit', 'critical', 'panic', 'dpanic'),
  ...as('error', 'alert', 'emerg', 'emergency'),
])
const LONGEST_WORD = 'information'.length
const SHORTEST_WORD = 'err'.length
/** A word between such characters is a level in any case: `[error]`, `<warn>`, `level=info`. */
const BEFORE = '[(<='
const AFTER = '])>:'
/** A field of a line in JSON, whose quotes are escaped in a stored line. Numbers are those of bunyan and pino. */
const FIELD =
  /\\?"(?:level|severity|lvl|levelname|loglevel|log\.level)\\?" ?: ?(?:\\?"([a-z]{3,11})\\?"|(\d{1,3})\b)/i
/** How uncaught errors begin in Python, Java and JavaScript. */
const UNCAUGHT = /^(?:Traceback \(|Exception in thread |Uncaught )/
const ERROR_NAME = /(?:Error|Exception)$/
const NAME_END = /[^\w.$]/
/** How klog and glog begin a line. */
const INITIAL = /^[IWEF]\d{4} \d\d:/
const STATUS = /\\?"status\\?":([1-5])/
/** What the server says when an instance ended. */
const ENDED = '; restarting it'

/**
 * The level of a line: what its text says, otherwise `error` for stderr and `info` for other streams. Takes the text without
 * colours, as it is shown or as JSON escapes it.
 */
export function levelOf(stream: LogLine['stream'], text: string): LogLevel {
  if (stream === 'access') return levelOfStatus(STATUS.exec(text)?.[1])
  if (stream === 'system') return levelOfNote(text)
  return saidLevel(text) ?? (stream === 'stderr' ? 'error' : 'info')
}

function levelOfStatus(firstDigit: string | undefined): LogLevel {
  return firstDigit === '5' ? 'error' : firstDigit === '4' ? 'warn' : 'info'
}

function levelOfNote(text: string): LogLevel {
  if (text.includes(ENDED)) return 'error'
  return text.includes(' lost here: ') ? 'warn' : 'info'
}

function saidLevel(text: string): LogLevel | undefined {
  if (text.startsWith('{')) return levelInJson(text.slice(0, JSON_CHARACTERS))
  return levelByWord(text) ?? levelByForm(text)
}

function levelInJson(text: string): LogLevel | undefined {
  const [, word, number] = FIELD.exec(text) ?? []
  if (number === undefined) return word === undefined ? undefined : LEVELS_BY_WORD.get(word.toLowerCase())
  const value = Number(number)
  return value >= 50 ? 'error' : value >= 40 ? 'warn' : value >= 30 ? 'info' : 'debug'
}

/**
 * The first word of the head that is a level: in capitals, or marked by what is around it. Goes through the characters,
 * because millions of lines are counted by their level.
 */
function levelByWord(text: string): LogLevel | undefined {
  const length = Math.min(HEAD_CHARACTERS, text.length)
  for (let start = 0; start < length; start++) {
    if (!isLetter(text.charCodeAt(start))) continue
    let end = start + 1
    while (end < text.length && isWordPart(text.charCodeAt(end))) end++
    const size = end - start
    if (size >= SHORTEST_WORD && size <= LONGEST_WORD && standsOut(text, start, end)) {
      const level = LEVELS_BY_WORD.get(text.slice(start, end).toLowerCase())
      if (level) return level
    }
    start = end
  }
  return undefined
}

function standsOut(text: string, start: number, end: number): boolean {
  if (isCapital(text.charCodeAt(start)) && isCapital(text.charCodeAt(end - 1))) return true
  if (start === 0) return text[end] === ':'
  // What a stored line has in front of a quote.
  const before =
    text[start - 1] === '"'
      ? text
          .slice(0, start - 1)
          .replace(/\\$/, '')
          .at(-1)
      : text[start - 1]
  return (
    before !== undefined && BEFORE.includes(before) && (before === '=' || AFTER.includes(text[end] ?? ' '))
  )
}

/** Forms that say how urgent a line is without a word for it. */
function levelByForm(text: string): LogLevel | undefined {
  if (INITIAL.test(text)) return text[0] === 'I' ? 'info' : text[0] === 'W' ? 'warn' : 'error'
  if (UNCAUGHT.test(text)) return 'error'
  // The name of an error is the first word, as in `TypeError: x` or `java.io.IOException: x`.
  const head = text.slice(0, HEAD_CHARACTERS)
  return ERROR_NAME.test(head.slice(0, Math.max(0, head.search(NAME_END)))) ? 'error' : undefined
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a
}

/** Letters, digits and `_`: `ERR_ABORTED` is one word. */
function isWordPart(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f
}

function as(level: LogLevel, ...words: string[]): [string, LogLevel][] {
  return words.map((word) => [word, level])
}
