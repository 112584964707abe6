import { BoundedQueue } from './queue.ts'

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

/** Kept in memory from server start. */
const KEPT_LINES = 2_000
/** Message and fields together; a longer line is cut. */
const MAX_LINE_BYTES = 8 * 1024
/** A follower further behind misses lines and is told how many. */
const FOLLOWER_LINES = 1_024

const kept: LogEntry[] = []
const followers = new Set<BoundedQueue<LogEntry>>()
let threshold: LogLevel = 'info'

/** Sets the lowest level that is kept and printed. */
export function setLogLevel(level: LogLevel): void {
  threshold = level
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** A logger for one part of the server, named `target` in its lines. Never pass it a secret. */
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

/** A queue that receives every line written from now on until `signal` aborts. */
export function followLog(signal: AbortSignal): BoundedQueue<LogEntry> {
  const queue = new BoundedQueue<LogEntry>(FOLLOWER_LINES, signal)
  followers.add(queue)
  signal.addEventListener('abort', () => followers.delete(queue), { once: true })
  return queue
}

/** The place of a level in the order debug, info, warn, error. */
export function rank(level: LogLevel): number {
  return LOG_LEVELS.indexOf(level)
}

function write(level: LogLevel, target: string, message: string, fields: Record<string, unknown>): void {
  if (rank(level) < rank(threshold)) return
  const entry = cut({ ts: new Date().toISOString(), level, target, message, fields })
  kept.push(entry)
  if (kept.length > KEPT_LINES) kept.shift()
  for (const follower of followers) follower.push(entry)
  const extra = Object.keys(entry.fields).length > 0 ? ` ${JSON.stringify(entry.fields)}` : ''
  process.stderr.write(`${entry.ts} ${level.padEnd(5)} ${target}: ${entry.message}${extra}\n`)
}

function cut(entry: LogEntry): LogEntry {
  const fields = JSON.stringify(entry.fields)
  if (Buffer.byteLength(entry.message) + Buffer.byteLength(fields) <= MAX_LINE_BYTES) return entry
  const room = Math.max(
    0,
    MAX_LINE_BYTES - (fields.length <= MAX_LINE_BYTES / 2 ? Buffer.byteLength(fields) : 2),
  )
  return {
    ...entry,
    message: Buffer.from(entry.message).subarray(0, room).toString('utf8'),
    fields: fields.length <= MAX_LINE_BYTES / 2 ? entry.fields : {},
  }
}
