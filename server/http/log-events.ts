import type { H3Event } from 'h3'
import { linesOf } from '../logs/files.ts'
import type { LogReading } from '../logs/read.ts'
import { isStoredStep } from '../logs/steps.ts'
import { sendEvents } from './event-stream.ts'

const written = new WeakMap<Buffer, Buffer>()

/** Stored log lines as Server-Sent Events. The followers of a log share its blocks, so each block is formatted once. */
export function logEvents(block: Buffer): Buffer {
  const known = written.get(block)
  if (known) return known
  const events = Buffer.from(
    linesOf(block)
      .map((line) => `event: ${isStoredStep(line) ? 'step' : 'log'}\ndata: ${line}\n\n`)
      .join(''),
  )
  written.set(block, events)
  return events
}

/** Sends the lines of a stored log, and then `end` unless the log is followed. */
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
