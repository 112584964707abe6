import { setTimeout as delay } from 'node:timers/promises'
import { cleanLine, lineTime, type LogLine } from '#server/log-lines.ts'
import type { Engine, OutputLine } from '../engine/index.ts'

/** Between two looks at a container that ended and may be started again, or an engine that does not answer. */
const RESUME_MS = 300

/** A line with the engine's own time, from which following can go on. */
export interface FollowedLine {
  line: LogLine
  engineTime: string
}

/** A container's output line as the wire has it. */
export function toLogLine(instance: string, { ts, stream, line }: OutputLine): LogLine {
  return { ts: lineTime(ts), stream, line: cleanLine(line), instance }
}

/** What a container prints after `since`, across its restarts, until it is removed or `signal` aborts. Never throws. */
export async function* followContainer(
  engine: Engine,
  id: string,
  since: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowedLine> {
  let last = since
  while (!signal.aborted) {
    try {
      if ((await engine.containers.inspect(id)) === null) return
      for await (const output of engine.containers.logs(id, { since: last, follow: true, signal })) {
        if (last !== undefined && output.ts <= last) continue
        last = output.ts
        yield { line: toLogLine(id, output), engineTime: output.ts }
      }
    } catch {
      // The engine may be away for a while; the next round asks again.
    }
    await delay(RESUME_MS, undefined, { signal }).catch(() => {})
  }
}
