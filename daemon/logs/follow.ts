import { setTimeout as delay } from 'node:timers/promises'
import { lineTime, type LogLine } from '#server/logs/lines.ts'
import { cleanLine } from '#server/text/clean-line.ts'
import type { Engine, OutputLine } from '../engine/index.ts'
import { readOutput, type OutputOptions } from './output.ts'

/** Length of a timestamp in the API; the engine's are longer. */
const WIRE_TIME_LENGTH = '2000-01-01T00:00:00.000Z'.length
/** Interval between two checks for a container that is created again. */
const RECREATED_CHECK_MS = 300

/** Returns a container's output line in the API's format. */
export function toLogLine(instance: string, { ts, stream, line }: OutputLine): LogLine {
  const moment = ts.length === WIRE_TIME_LENGTH ? ts : lineTime(ts)
  return { ts: moment, stream, line: cleanLine(line), instance }
}

/** Yields all output of a container and of those that replace it under its name, until `signal` aborts. Never throws. */
export async function* followContainer(
  engine: Engine,
  id: string,
  { signal, onLive }: Pick<OutputOptions, 'signal' | 'onLive'>,
): AsyncGenerator<LogLine> {
  while (!signal.aborted) {
    for await (const lines of readOutput(engine, id, { signal, onLive }))
      for (const line of lines) yield toLogLine(id, line)
    await delay(RECREATED_CHECK_MS, undefined, { signal }).catch(() => {})
  }
}
