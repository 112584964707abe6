import { setTimeout as delay } from 'node:timers/promises'
import type { Engine, OutputLine } from '../engine/index.ts'
import { Ahead } from './ahead.ts'
import { EngineLog } from './engine-log.ts'
import { engineMoment, KnownLines } from './known.ts'
import { joinLive, NEAR_MS, STREAMS, type Seam } from './seam.ts'

/** Interval between two tries at an engine that does not answer; doubled each time for a paused container. */
const RETRY_MS = 300
const MAX_RETRY_MS = 5_000
/** Interval between two checks whether there is still something to wait for. */
const LOOK_MS = 2_000
/** Lines that are already in the log arrive live within this time, if at all. */
const LIVE_MS = 200
/** The engine writes its log after its streams, so the log may not have what arrived live yet. */
const LOG_TRIES = 10
const LOG_RETRY_MS = 20
/** If lines repeat, more of them are waited for between two tries, up to this many. */
const AMBIGUOUS_WAIT_MS = 60
const MAX_AMBIGUOUS_LINES = 2_000

export interface OutputOptions {
  /** Whether to end when the program has ended; otherwise waits for its next start. */
  untilEnd?: boolean
  signal: AbortSignal
  /** Called once the reader is attached and has passed on the earlier output. */
  onLive?: () => void
  /** What an earlier reader has passed on; the output continues after that. */
  known?: KnownLines
  /** Whether `signal` aborts when the container is gone, so that no periodic check is needed. */
  isSignaled?: boolean
}

/**
 * Yields the output of a container: first from the engine's log, then live, joined so that no line is missing or repeated.
 * Continues across restarts of the container and of the engine, until the container is removed or the signal aborts. Never
 * throws. Read it without pause, or it blocks the program.
 *
 * Following the engine's log would need no joining, but Docker 20.10 repeats and loses lines of it at log rotation.
 */
export async function* readOutput(
  engine: Engine,
  id: string,
  { untilEnd = false, signal, onLive, known = new KnownLines(), isSignaled = false }: OutputOptions,
): AsyncGenerator<OutputLine[]> {
  let retryMs = RETRY_MS
  while (!signal.aborted) {
    const session = new AbortController()
    const stop = AbortSignal.any([signal, session.signal])
    const look = () => isOver(engine, id, untilEnd).then((over) => over && session.abort())
    let watch: ReturnType<typeof setInterval> | undefined
    let isCalm = true
    try {
      const found = await engine.containers.inspect(id)
      if (!found) return
      const isLast = untilEnd && !found.running
      // The output of an ended program is read to its end, however long that takes.
      if (!isSignaled && !isLast) watch = setInterval(() => void look(), LOOK_MS)
      const log = new EngineLog(engine, { id, running: found.running }, known, engineMoment(Date.now()), stop)
      // A paused container cannot be attached to, but its log can be read.
      const live = isLast ? null : await engine.output.attach(id, stop).catch(() => null)
      const isGone = () => isOver(engine, id, false)
      for await (const lines of live ? joined(log, new Ahead(live), isGone) : log.unknown()) {
        known.add(lines)
        if (lines.length === 0) onLive?.()
        else yield lines
        isCalm &&= lines.length === 0
      }
      if (!live) onLive?.()
      if (isLast) return
      retryMs = live || !isCalm ? RETRY_MS : Math.min(2 * retryMs, MAX_RETRY_MS)
    } catch {
      // The engine may be away for a while; the next round tries again.
    } finally {
      clearInterval(watch)
      session.abort()
    }
    if (isCalm) await delay(retryMs, undefined, { signal }).catch(() => {})
  }
}

/** Yields the log's lines before those that may also arrive live, then the joined part, an empty batch, and live lines. */
async function* joined(
  log: EngineLog,
  live: Ahead,
  isGone: () => Promise<boolean>,
): AsyncGenerator<OutputLine[]> {
  // If the container was removed, the attachment's output exists nowhere else, so go on without the log. Otherwise fail.
  const unlessGone = async (error: unknown) => {
    if (!(await isGone())) throw error
    return []
  }
  const more: More = (expected, from) => log.more(expected, from).catch(unlessGone)
  let recent: OutputLine[] = []
  try {
    for await (const lines of log.unknown()) {
      const first = lines.findIndex(({ ts }) => ts >= log.since)
      recent = recent.concat(first === -1 ? [] : lines.slice(first))
      const older = first === -1 ? lines : lines.slice(0, first)
      if (older.length > 0) yield older
    }
  } catch (error) {
    await unlessGone(error)
  }
  let early = await live.take(LIVE_MS, (lines) => lines.length > 0)
  const isSilent = early.length === 0
  const shown = new PassedOn()
  if (isSilent) {
    recent = recent.concat(await more(0))
    if (recent.length > 0) yield recent
    // They may still arrive live, very late.
    shown.add(recent)
    yield []
    early = await live.next()
  }
  // The first live line of each stream may be the end of a line that began before.
  const unjoined = new Set(STREAMS)
  for (let isFirst = !isSilent; early.length > 0; early = await live.next()) {
    let lines = early
    if (unjoined.size > 0 && early.some(({ stream }) => unjoined.has(stream))) {
      const seam = await joinStreams(recent, early, unjoined, more, live)
      for (const stream of streamsOf(seam.live)) unjoined.delete(stream)
      lines = [...seam.before, ...seam.live]
      recent = seam.before.filter(({ stream }) => unjoined.has(stream))
    }
    const fresh = shown.leaveOut(lines)
    if (lines !== early) shown.add(recent)
    if (fresh.length > 0) yield fresh
    if (isFirst) yield []
    isFirst = false
  }
  if (unjoined.size === 0) return
  // A line that had begun ends with the program and is in the log then.
  const ended = await more(0, engineMoment(Date.now() - NEAR_MS))
  const last = ended.filter(({ stream }) => unjoined.has(stream))
  if (last.length > 0) yield last
}

/** Reads the lines that the log got meanwhile, as `EngineLog.more` does. */
type More = (expected: number, from?: string) => Promise<OutputLine[]>

/**
 * Joins the end of the log with the live lines of streams that had none before. The log is read again once a line has
 * arrived, because it has that line then. Before, if all lines are the same, it cannot be decided whether the log's last
 * lines are those that arrive.
 */
async function joinStreams(
  recent: OutputLine[],
  first: OutputLine[],
  unjoined: ReadonlySet<OutputLine['stream']>,
  more: More,
  live: Ahead,
): Promise<Seam> {
  let logged = recent
  let early = first
  const from = engineMoment(Date.parse(first[0]!.ts) - NEAR_MS)
  for (let tries = 1; ; tries++) {
    const due = early.length
    logged = logged.concat((await more(due, from)).filter(({ stream }) => unjoined.has(stream)))
    const wanted = streamsOf(logged)
    const isShown = (lines: OutputLine[]) =>
      wanted.every((each) => streamsOf([...early, ...lines]).includes(each))
    early = early.concat(await live.take(LIVE_MS, isShown))
    const seam = joinLive(logged, early, due, unjoined)
    const isAmbiguous = seam.isAmbiguous && early.length < MAX_AMBIGUOUS_LINES
    if (tries === LOG_TRIES || !(seam.isOpen || isAmbiguous)) return seam
    const waiting = live.take(isAmbiguous ? AMBIGUOUS_WAIT_MS : LOG_RETRY_MS)
    const [came] = await Promise.all([waiting, delay(LOG_RETRY_MS)])
    early = early.concat(came)
  }
}

/** Counts lines that were passed on from the log and may still arrive live. */
class PassedOn {
  readonly #left = { stdout: 0, stderr: 0 }

  add(lines: readonly OutputLine[]): void {
    for (const { stream } of lines) this.#left[stream]++
  }

  /** Removes the first lines of each stream, as many as were added of it, over all calls. */
  leaveOut(lines: OutputLine[]): OutputLine[] {
    const left = this.#left
    if (left.stdout + left.stderr === 0) return lines
    return lines.filter(({ stream }) => !(left[stream] > 0 && left[stream]-- > 0))
  }
}

function streamsOf(lines: readonly OutputLine[]): OutputLine['stream'][] {
  return STREAMS.filter((each) => lines.some(({ stream }) => stream === each))
}

/** Whether a container will print nothing more. Nothing reports the removal of a stopped container, so this must ask. */
async function isOver(engine: Engine, id: string, untilEnd: boolean): Promise<boolean> {
  const found = await engine.containers.inspect(id).catch(() => undefined)
  return found === null || (untilEnd && found?.running === false)
}
