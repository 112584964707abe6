import type { H3Event } from 'h3'
import { linesOf } from '../logs/files.ts'
import type { LogReading } from '../logs/read.ts'
import { sendEvents } from './event-stream.ts'

const written = new WeakMap<Buffer, Buffer>()

/** Stored lines of a log as Server-Sent Events. Followers of a log share its blocks, so each is written out once. */
export function logEvents(block: Buffer): Buffer {
  const known = written.get(block)
  if (known) return known
  const events = Buffer.from(
    linesOf(block)
      .map((line) => `event: log\ndata: ${line}\n\n`)
      .join(''),
  )
  written.set(block, events)
  return events
}

/** Sends what is read of a kept log, with `end` unless it follows. */
export async function sendLog(event: H3Event, reading: LogReading, follows: boolean): Promise<void> {
  try {
    await sendEvents(event, async function* (signal) {
      for await (const block of reading.read(signal)) yield logEvents(block)
      if (!follows) yield { event: 'end' }
    })
  } finally {
    reading.leave()
  }
}
