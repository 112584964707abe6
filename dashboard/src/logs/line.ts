import { cleanLine } from '#server/text/clean-line.ts'
import { inOrder } from '../api/plain-text.ts'
import type { LogEvent, ServerLogEvent, ServiceLogEvent } from '../api/types.ts'

/** A line as the log view keeps it. */
export interface LogLine {
  /** From 1, as they were read, with those that were skipped; it stays the same when older lines are dropped. */
  number: number
  ts: string
  /** With its SGR (colour) sequences, without any other control sequence. */
  text: string
  /** The plain text, for search and copying. */
  plain: string
  kind: LogEvent['stream']
  /** Which container wrote it: the end of its name. */
  instance: string | null
  /** The id of the step of a deploy that it belongs to. */
  step: string | null
  /** Where it comes from, and how urgent it is, among the lines of several services. */
  origin?: LineOrigin
}

export interface LineOrigin {
  id: string
  name: string
  colour: string
  level: ServiceLogEvent['level']
}

const SGR = /\x1b\[[0-9;:]*m/g

export function fromLogEvent(event: LogEvent, number: number): LogLine {
  const text = inOrder(cleanLine(event.line))
  const instance = event.instance ? shortInstance(event.instance) : null
  const plain = text.replace(SGR, '')
  return { number, ts: event.ts, text, plain, kind: event.stream, instance, step: event.step ?? null }
}

/** A line among those of several services. A remark of the server about the log itself has no origin. */
export function fromServiceLogEvent(
  event: ServiceLogEvent,
  number: number,
  colourOf: (id: string) => string,
): LogLine {
  const line = fromLogEvent(event, number)
  const { service_id: id, service: name, level } = event
  if (id === undefined || name === undefined) return line
  return { ...line, origin: { id, name, colour: colourOf(id), level } }
}

/** A line as text, with where it comes from. */
export function lineText({ ts, plain, origin }: LogLine, hasTime: boolean): string {
  return [...(hasTime ? [ts] : []), ...(origin ? [origin.name] : []), plain].join(' ')
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
    step: null,
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
