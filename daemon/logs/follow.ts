import { setTimeout as delay } from 'node:timers/promises'
import { lineTime, type LogLine } from '#server/logs/lines.ts'
import { cleanLine } from '#server/text/clean-line.ts'
import type { Engine, OutputLine } from '../engine/index.ts'
import { readOutput } from './output.ts'

/** Digits of a moment as the wire has it: an engine's has more. */
const WIRE_TIME_LENGTH = '2000-01-01T00:00:00.000Z'.length
/** Between two looks for a container that is made anew. */
const ANEW_MS = 300

/** A container's output line as the wire has it. */
export function toLogLine(instance: string, { ts, stream, line }: OutputLine): LogLine {
  const moment = ts.length === WIRE_TIME_LENGTH ? ts : lineTime(ts)
  return { ts: moment, stream, line: cleanLine(line), instance }
}

/** All that a container prints, across its restarts, and the one that is made anew in its place, until `signal` aborts. Never throws. */
export async function* followContainer(
  engine: Engine,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  while (!signal.aborted) {
    for await (const lines of readOutput(engine, id, { signal }))
      for (const line of lines) yield toLogLine(id, line)
    await delay(ANEW_MS, undefined, { signal }).catch(() => {})
  }
}
