import { z } from 'zod'
import { ToolFault, accepted, type Call, type CallOptions } from './call.ts'
import { cutText, MAX_LINE_BYTES, tidy } from './bounds.ts'

/** A line of any log, as tools answer it. */
export interface Line {
  ts: string
  stream?: string | undefined
  level?: string | undefined
  line: string
  instance?: string | undefined
}

const Printed = z.object({
  ts: z.string(),
  stream: z.string().optional(),
  line: z.string(),
  instance: z.string().optional(),
})
const OwnEntry = z.object({
  ts: z.string(),
  level: z.string(),
  target: z.string(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).optional(),
})

interface Reading {
  query?: CallOptions['query']
  /** How many of the last lines are kept, whatever the log has. */
  count: number
  /** Which lines count; all by default. */
  wanted?: (line: Line) => boolean
}

/** The last lines of a log, oldest first. Holds no more of it than these. */
export async function lastLines(
  call: Call,
  path: string,
  { query, count, wanted = () => true }: Reading,
): Promise<Line[]> {
  const { body } = await accepted(call, 'GET', path, query ? { query } : {})
  let lines: Line[] = []
  let isComplete = false
  for await (const { event, data } of eventsOf(body)) {
    isComplete ||= event === 'end'
    const line = event === 'log' ? lineOf(data) : null
    if (!line || !wanted(line)) continue
    lines.push({ ...line, line: cutText(tidy(line.line), MAX_LINE_BYTES) })
    if (lines.length > 2 * count) lines = lines.slice(-count)
  }
  if (!isComplete) throw new ToolFault('interrupted', 'the log ended in the middle; ask again')
  return count === 0 ? [] : lines.slice(-count)
}

function lineOf(data: string): Line | null {
  const value = JSON.parse(data) as unknown
  const printed = Printed.safeParse(value)
  if (printed.success) return printed.data
  const own = OwnEntry.safeParse(value)
  if (!own.success) return null
  const { ts, level, target, message, fields = {} } = own.data
  const more = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ''
  return { ts, level, line: `${target}: ${message}${more}` }
}

interface StreamEvent {
  event: string
  data: string
}

/** The events of a stream of Server-Sent Events, which has each event's data in one line. */
async function* eventsOf(body: unknown): AsyncGenerator<StreamEvent> {
  if (!isPieces(body)) throw new ToolFault('unexpected_answer', 'the log did not come as a stream')
  const decoder = new TextDecoder()
  let rest = ''
  let event = ''
  let data = ''
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('event: ')) event = line.slice('event: '.length)
      else if (line.startsWith('data: ')) data = line.slice('data: '.length)
      else if (line === '' && event !== '') {
        yield { event, data }
        event = ''
        data = ''
      }
    }
  }
}

function isPieces(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
