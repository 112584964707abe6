import { cleanLine } from '#server/text/clean-line.ts'
import { inOrder } from '../api/plain-text.ts'
import type { LogEvent, ServerLogEvent } from '../api/types.ts'

/** A line as the log view keeps it. */
export interface LogLine {
  /** From 1, in the order of arrival; it stays the same when older lines are dropped. */
  number: number
  ts: string
  /** With its SGR (colour) sequences, without any other control sequence. */
  text: string
  /** The plain text, for search and copying. */
  plain: string
  kind: 'stdout' | 'stderr' | 'system'
  /** Which container wrote it: the end of its name. */
  instance: string | null
}

const SGR = /\x1b\[[0-9;:]*m/g

export function fromLogEvent(event: LogEvent, number: number): LogLine {
  const text = inOrder(cleanLine(event.line))
  const instance = event.instance ? shortInstance(event.instance) : null
  return { number, ts: event.ts, text, plain: text.replace(SGR, ''), kind: event.stream, instance }
}

/** The end of the name of an instance, which distinguishes it from the others of its service. */
export function shortInstance(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

const LEVEL_COLOURS = { debug: '\x1b[90m', info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' }

export function fromServerLogEvent(event: ServerLogEvent, number: number): LogLine {
  const fields = Object.entries(event.fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const rest = inOrder(cleanLine(`${event.target}: ${event.message}${fields.join('')}`))
  const level = event.level.padEnd(5)
  const text = `${LEVEL_COLOURS[event.level]}${level}\x1b[0m ${rest}`
  return {
    number,
    ts: event.ts,
    text,
    plain: `${level} ${rest.replace(SGR, '')}`,
    kind: event.level === 'error' ? 'stderr' : 'stdout',
    instance: null,
  }
}

/** Time of day with milliseconds in the user's own time zone; `dated` puts month and day before it. */
export function timeText(ts: string, dated: boolean): string {
  const moment = new Date(ts)
  const part = (value: number, digits = 2) => String(value).padStart(digits, '0')
  const day = dated ? `${part(moment.getMonth() + 1)}-${part(moment.getDate())} ` : ''
  return `${day}${part(moment.getHours())}:${part(moment.getMinutes())}:${part(moment.getSeconds())}.${part(moment.getMilliseconds(), 3)}`
}

/** Whether lines, oldest first, are from more than one day, so that they need a date. */
export function spansDays(lines: readonly LogLine[]): boolean {
  const [first, last] = [lines[0], lines.at(-1)]
  return first !== undefined && new Date(first.ts).toDateString() !== new Date(last!.ts).toDateString()
}
