import { setTimeout as delay } from 'node:timers/promises'
import type { LineCounts } from '#server/logs/system-lines.ts'
import type { ContainerState, Engine, OutputLine } from '../engine/index.ts'
import { handOver } from './hand-over.ts'
import { Live } from './live.ts'
import { LogReader } from './log-reader.ts'
import { Place, type Stream } from './place.ts'

/** Between two tries at an engine that does not answer, or at a paused container. */
const RETRY_MS = 300
/** Between two looks whether there is something to wait for. */
const LOOK_MS = 2_000
/** The engine writes its log after its streams, so it may not yet have what came live. */
const LOG_TRIES = 10
const LOG_RETRY_MS = 20

export interface OutputOptions {
  /** Whether it ends when the program has ended; otherwise it waits for its next start. */
  untilEnd?: boolean
  signal: AbortSignal
  /** Called once the reader is attached and has handed on what was there before. */
  onLive?: () => void
  /** Where an earlier reader stood; it is moved on. */
  place?: Place
  /** Called when it is another container than before that is read, before its first line. */
  onBegin?: () => Promise<void>
  /** Called where lines may be missing, with the reason. */
  onGap?: (why: string) => void
  /** Whether it is told by its signal when the container is gone, and need not look now and then. */
  isTold?: boolean
}

/**
 * What a container prints: first what the engine's log has, then what comes, joined so that no line is missing and none comes
 * twice. It goes on across restarts of the container and of the engine, until the container is removed or the signal
 * aborts. Never throws. Read it without pause: it holds the program back otherwise.
 *
 * The log followed would have no seam, but Docker 20.10 repeats and loses lines of it where the file is rotated.
 */
export async function* readOutput(
  engine: Engine,
  id: string,
  { untilEnd = false, signal, onLive, place = new Place(), onBegin, onGap, isTold = false }: OutputOptions,
): AsyncGenerator<OutputLine[]> {
  while (!signal.aborted) {
    const session = new AbortController()
    const stop = AbortSignal.any([signal, session.signal])
    const look = () => isOver(engine, id, untilEnd).then((over) => over && session.abort())
    const watch = isTold ? undefined : setInterval(() => void look(), LOOK_MS)
    let isCalm = true
    try {
      const found = await engine.containers.inspect(id)
      if (!found) return
      if (found.id !== place.container) await begin(place, found.id, onBegin)
      const isLast = untilEnd && !found.running
      // A paused one cannot be attached to, but read.
      const attached = isLast ? null : await engine.output.attach(id, stop).catch(() => null)
      const reader = new LogReader(engine, id, place, stop, onGap ?? (() => {}))
      const brake = (until: AbortSignal) =>
        void engine.output.attach(id, AbortSignal.any([stop, until])).catch(() => {})
      const output = attached
        ? joined(reader, place, new Live(attached), found, brake)
        : reader.unread(found.startedAt)
      for await (const lines of output) {
        if (lines.length === 0) onLive?.()
        else yield lines
        isCalm &&= lines.length === 0
      }
      if (!attached) onLive?.()
      if (isLast) return
    } catch {
      // The engine may be away for a while; the next round asks again.
    } finally {
      place.isLive = false
      clearInterval(watch)
      session.abort()
    }
    if (isCalm) await delay(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

/** Goes to a container that was not read before, or the only one so far. */
async function begin(place: Place, container: string, onBegin?: () => Promise<void>): Promise<void> {
  if (place.container === null) place.container = container
  else place.begin(container)
  try {
    await onBegin?.()
  } catch (error) {
    place.container = null
    throw error
  }
}

/** What the log has that was not handed on, then an empty batch, then what comes live. */
async function* joined(
  reader: LogReader,
  place: Place,
  live: Live,
  { running, startedAt }: ContainerState,
  brake: (signal: AbortSignal) => void,
): AsyncGenerator<OutputLine[]> {
  const braked = new AbortController()
  let known: LineCounts | null
  try {
    known = yield* handOver(live, reader, startedAt, () => brake(braked.signal))
  } finally {
    braked.abort()
  }
  if (known === null) return
  const cut = new Set(running ? live.cut(known) : [])
  place.isLive = true
  yield []
  for await (const lines of live.rest(known)) {
    for (const stream of cut) {
      const at = lines.findIndex((line) => line.stream === stream)
      if (at === -1) continue
      cut.delete(stream)
      lines[at] = (await whole(reader, stream, startedAt)) ?? lines[at]!
    }
    place.pass(lines)
    yield lines
  }
}

/** The next line of a stream as the log has it: attaching may have fallen into the middle of it. */
async function whole(
  reader: LogReader,
  stream: Stream,
  growingSince: string | null,
): Promise<OutputLine | null> {
  for (let tries = 1; tries <= LOG_TRIES; tries++) {
    const line = await reader.next(stream, growingSince)
    if (line) return line
    await delay(LOG_RETRY_MS)
  }
  return null
}

/** Whether nothing more comes from a container; one that does not run tells nobody of its removal. */
async function isOver(engine: Engine, id: string, untilEnd: boolean): Promise<boolean> {
  const found = await engine.containers.inspect(id).catch(() => undefined)
  return found === null || (untilEnd && found?.running === false)
}
