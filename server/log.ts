import { safeFields, withoutSecrets } from './text/redaction.ts'
import { BoundedQueue } from './work/queue.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** One line of the server's own log. */
export interface LogEntry {
  ts: string
  level: LogLevel
  target: string
  message: string
  fields: Record<string, unknown>
}

/** How many lines are kept in memory. */
const KEPT_LINES = 2_000
/** Limit for message and fields together; a longer line is truncated. */
const MAX_LINE_BYTES = 8 * 1024
/** A follower that is further behind misses lines and is told how many. */
const FOLLOWER_LINES = 1_024

const kept: LogEntry[] = []
const followers = new Set<BoundedQueue<LogEntry>>()
let threshold: LogLevel = 'info'
let format: (entry: LogEntry) => string = pretty

export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * Sets the lowest level that is kept and printed, and the format: `auto` is `pretty` on a terminal, and `json` (one object
 * per line) elsewhere.
 */
export function setUpLog(level: LogLevel, wanted: LogFormat): void {
  threshold = level
  const isPretty = wanted === 'pretty' || (wanted === 'auto' && process.stderr.isTTY)
  format = isPretty ? pretty : JSON.stringify
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** A logger for one part of the server, shown as `target` in its lines. It removes secrets, but do not pass any. */
export function logger(target: string): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      write(level, target, message, fields)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The kept lines at `level` and above, oldest first, the last `tail` of them. */
export function recentLog(level: LogLevel, tail: number): LogEntry[] {
  const wanted = kept.filter((entry) => rank(entry.level) >= rank(level))
  return tail === 0 ? [] : wanted.slice(-tail)
}

/** A queue that gets every line written from now on until `signal` aborts. */
export function followLog(signal: AbortSignal): BoundedQueue<LogEntry> {
  const queue = new BoundedQueue<LogEntry>(FOLLOWER_LINES, signal)
  followers.add(queue)
  signal.addEventListener('abort', () => followers.delete(queue), { once: true })
  return queue
}

/** The index of a level in the order debug, info, warn, error. */
export function rank(level: LogLevel): number {
  return LOG_LEVELS.indexOf(level)
}

function write(level: LogLevel, target: string, message: string, fields: Record<string, unknown>): void {
  if (rank(level) < rank(threshold)) return
  const entry = cut({
    ts: new Date().toISOString(),
    level,
    target,
    message: withoutSecrets(message),
    fields: safeFields(fields),
  })
  kept.push(entry)
  if (kept.length > KEPT_LINES) kept.shift()
  for (const follower of followers) follower.push(entry)
  process.stderr.write(`${format(entry)}\n`)
}

/** Limits the length of message and fields together. Fields that take more than half of it are dropped. */
function cut(entry: LogEntry): LogEntry {
  const fieldBytes = Buffer.byteLength(JSON.stringify(entry.fields))
  if (Buffer.byteLength(entry.message) + fieldBytes <= MAX_LINE_BYTES) return entry
  const keepsFields = fieldBytes <= MAX_LINE_BYTES / 2
  const room = MAX_LINE_BYTES - (keepsFields ? fieldBytes : '{}'.length)
  return {
    ...entry,
    message: startOf(entry.message, room),
    fields: keepsFields ? entry.fields : {},
  }
}

/** As many whole characters as fit. */
function startOf(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}

/**
 * Formats a line for people. Control characters are escaped, so that nothing moves a terminal's cursor or begins another
 * line.
 */
function pretty({ ts, level, target, message, fields }: LogEntry): string {
  const extra = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ''
  return `${ts} ${level.padEnd(5)} ${target}: ${message}${extra}`.replace(
    /[\x00-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
