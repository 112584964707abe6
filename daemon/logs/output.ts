import { setTimeout as delay } from 'node:timers/promises'
import type { Engine, OutputLine } from '../engine/index.ts'
import { Ahead } from './ahead.ts'
import { EngineLog } from './engine-log.ts'
import { engineMoment, KnownLines } from './known.ts'
import { joinLive, NEAR_MS, STREAMS, type Seam } from './seam.ts'

/** Between two tries at an engine that does not answer; twice as long each time at a paused container, whose log is read. */
const RETRY_MS = 300
const MOST_RETRY_MS = 5_000
/** Between two looks whether there is something to wait for. */
const LOOK_MS = 2_000
/** Lines that are in the log already come live within this, if they come at all. */
const LIVE_MS = 200
/** The engine writes its log after its streams, so it may not yet have what came live. */
const LOG_TRIES = 10
const LOG_RETRY_MS = 20
/** Where lines repeat themselves, more of them are waited for between two tries, up to so many. */
const DOUBT_MS = 60
const DOUBT_LINES = 2_000

export interface OutputOptions {
  /** Whether it ends when the program has ended; otherwise it waits for its next start. */
  untilEnd?: boolean
  signal: AbortSignal
  /** Called once the reader is attached and has handed on what was there before. */
  onLive?: () => void
  /** What was handed on by an earlier reader; it goes on after that. */
  known?: KnownLines
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
  { untilEnd = false, signal, onLive, known = new KnownLines(), isTold = false }: OutputOptions,
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
      // What an ended program has printed is read to its end, however long that takes.
      if (!isTold && !isLast) watch = setInterval(() => void look(), LOOK_MS)
      const log = new EngineLog(engine, { id, running: found.running }, known, engineMoment(Date.now()), stop)
      // A paused one cannot be attached to, but read.
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
      retryMs = live || !isCalm ? RETRY_MS : Math.min(2 * retryMs, MOST_RETRY_MS)
    } catch {
      // The engine may be away for a while; the next round asks again.
    } finally {
      clearInterval(watch)
      session.abort()
    }
    if (isCalm) await delay(retryMs, undefined, { signal }).catch(() => {})
  }
}

/** The log's lines up to what may also come live, then the seam, and an empty batch before what comes live. */
async function* joined(
  log: EngineLog,
  live: Ahead,
  isGone: () => Promise<boolean>,
): AsyncGenerator<OutputLine[]> {
  // What an attachment has of a container that was removed is nowhere else. Otherwise nothing is skipped for it.
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
  const shown = new Shown()
  if (isSilent) {
    recent = recent.concat(await more(0))
    if (recent.length > 0) yield recent
    // They may still come live, very late.
    shown.add(recent)
    yield []
    early = await live.next()
  }
  // Of each stream the first line that comes may be the end of one that had begun before.
  const unmet = new Set(STREAMS)
  for (let isFirst = !isSilent; early.length > 0; early = await live.next()) {
    let lines = early
    if (unmet.size > 0 && early.some(({ stream }) => unmet.has(stream))) {
      const seam = await meet(recent, early, unmet, more, live)
      for (const stream of streamsOf(seam.live)) unmet.delete(stream)
      lines = [...seam.before, ...seam.live]
      recent = seam.before.filter(({ stream }) => unmet.has(stream))
    }
    const fresh = shown.leaveOut(lines)
    if (lines !== early) shown.add(recent)
    if (fresh.length > 0) yield fresh
    if (isFirst) yield []
    isFirst = false
  }
  if (unmet.size === 0) return
  // What had begun has its end with the program, and is logged then.
  const ended = await more(0, engineMoment(Date.now() - NEAR_MS))
  const last = ended.filter(({ stream }) => unmet.has(stream))
  if (last.length > 0) yield last
}

/** Reads what the log got meanwhile, as `EngineLog.more` does. */
type More = (expected: number, from?: string) => Promise<OutputLine[]>

/**
 * Joins the end of the log with what comes live of the streams of which nothing came before. The log is read again once
 * something has come, as it has that line then: before, nothing tells whether the log's last lines are those that come, where
 * all are the same.
 */
async function meet(
  recent: OutputLine[],
  first: OutputLine[],
  unmet: ReadonlySet<OutputLine['stream']>,
  more: More,
  live: Ahead,
): Promise<Seam> {
  let logged = recent
  let early = first
  const from = engineMoment(Date.parse(first[0]!.ts) - NEAR_MS)
  for (let tries = 1; ; tries++) {
    const due = early.length
    logged = logged.concat((await more(due, from)).filter(({ stream }) => unmet.has(stream)))
    const wanted = streamsOf(logged)
    const isShown = (lines: OutputLine[]) =>
      wanted.every((each) => streamsOf([...early, ...lines]).includes(each))
    early = early.concat(await live.take(LIVE_MS, isShown))
    const seam = joinLive(logged, early, due, unmet)
    const isDoubtful = seam.isDoubtful && early.length < DOUBT_LINES
    if (tries === LOG_TRIES || !(seam.isOpen || isDoubtful)) return seam
    const waiting = live.take(isDoubtful ? DOUBT_MS : LOG_RETRY_MS)
    const [came] = await Promise.all([waiting, delay(LOG_RETRY_MS)])
    early = early.concat(came)
  }
}

/** What was handed on from the log, and may still come live. */
class Shown {
  readonly #left = { stdout: 0, stderr: 0 }

  add(lines: readonly OutputLine[]): void {
    for (const { stream } of lines) this.#left[stream]++
  }

  /** Leaves out of all that it is given the first lines of each stream, as many as were added of it. */
  leaveOut(lines: OutputLine[]): OutputLine[] {
    const left = this.#left
    if (left.stdout + left.stderr === 0) return lines
    return lines.filter(({ stream }) => !(left[stream] > 0 && left[stream]-- > 0))
  }
}

function streamsOf(lines: readonly OutputLine[]): OutputLine['stream'][] {
  return STREAMS.filter((each) => lines.some(({ stream }) => stream === each))
}

/** Whether nothing more comes from a container; one that does not run tells nobody of its removal. */
async function isOver(engine: Engine, id: string, untilEnd: boolean): Promise<boolean> {
  const found = await engine.containers.inspect(id).catch(() => undefined)
  return found === null || (untilEnd && found?.running === false)
}
