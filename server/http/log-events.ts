import { linesOf } from '../log-files.ts'

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
