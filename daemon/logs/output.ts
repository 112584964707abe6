import { setTimeout as delay } from 'node:timers/promises'
import type { Engine, OutputLine } from '../engine/index.ts'
import { engineMoment, KnownLines } from './known.ts'
import { joinLive } from './seam.ts'

/** Between two tries at an engine that does not answer, or at a paused container. */
const RETRY_MS = 300
/** Between two looks whether there is something to wait for. */
const LOOK_MS = 2_000
/** Lines that are in the log already come live within this, if they come at all. */
const LIVE_MS = 200
/** The engine writes its log after its streams, so it may not yet have what came live. */
const LOG_TRIES = 10
const LOG_RETRY_MS = 20
/** Where lines repeat themselves, more of them are waited for between two tries, up to so many. */
const DOUBT_MS = 50
const DOUBT_LINES = 128
/** Lines handed on at once. */
const BATCH_LINES = 500
/** What is read again before the last known line then: clocks are corrected now and then. */
const OVERLAP_MS = 2_000

export interface OutputOptions {
  /** Only so many of the lines that are there already; all when absent. */
  tail?: number
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
  { tail, untilEnd = false, signal, onLive, known = new KnownLines(), isTold = false }: OutputOptions,
): AsyncGenerator<OutputLine[]> {
  let options: { tail?: number; since?: string } = tail === undefined ? {} : { tail }
  const resumed = known.since(OVERLAP_MS)
  if (resumed !== null) options = { since: resumed }
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
      const since = engineMoment(Date.now())
      // A paused one cannot be attached to, but read.
      const live = isLast ? null : await engine.output.attach(id, stop).catch(() => null)
      const logged = readLogged(engine, id, options, known, stop)
      for await (const lines of live ? joined(engine, id, since, logged, live, stop) : logged) {
        known.add(lines)
        if (lines.length === 0) onLive?.()
        else yield lines
        isCalm &&= lines.length === 0
      }
      if (!live) onLive?.()
      if (isLast) return
      options = { since }
    } catch {
      // The engine may be away for a while; the next round asks again.
    } finally {
      clearInterval(watch)
      session.abort()
    }
    // What is known already is looked for in what is read again.
    const last = known.since(OVERLAP_MS)
    if (last !== null) options = { since: last }
    if (isCalm) await delay(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

/** The log's lines up to what may also come live, then the seam, then an empty batch, then what comes live. */
async function* joined(
  engine: Engine,
  id: string,
  since: string,
  logged: AsyncIterable<OutputLine[]>,
  live: AsyncGenerator<OutputLine[], void>,
  signal: AbortSignal,
): AsyncGenerator<OutputLine[]> {
  const recent: OutputLine[] = []
  for await (const lines of logged) {
    const first = lines.findIndex(({ ts }) => ts >= since)
    recent.push(...(first === -1 ? [] : lines.slice(first)))
    const older = first === -1 ? lines : lines.slice(0, first)
    if (older.length > 0) yield older
  }
  const ahead = new Ahead(live)
  const streams = [...new Set(recent.map(({ stream }) => stream))]
  const isShown = (lines: OutputLine[]) =>
    streams.every((each) => lines.some(({ stream }) => stream === each))
  const early = recent.length === 0 ? [] : await ahead.take(LIVE_MS, isShown)
  let seam = joinLive(recent, early)
  const isDoubtful = () => seam.isDoubtful && early.length < DOUBT_LINES
  for (let tries = 1; (seam.open.length > 0 || isDoubtful()) && tries < LOG_TRIES; tries++) {
    if (isDoubtful()) early.push(...(await ahead.take(DOUBT_MS)))
    else await delay(LOG_RETRY_MS, undefined, { signal })
    seam = joinLive(await printedSince(engine, id, since, signal), early)
  }
  const met = [...seam.before, ...seam.live]
  if (met.length > 0) yield met
  yield []
  yield* ahead.rest()
}

async function* readLogged(
  engine: Engine,
  id: string,
  options: { tail?: number; since?: string },
  known: KnownLines,
  signal: AbortSignal,
): AsyncGenerator<OutputLine[]> {
  // A second reading is short, and what is known already is looked for in the whole of it.
  if (options.since !== undefined)
    return yield known.after(await printedSince(engine, id, options.since, signal))
  let lines: OutputLine[] = []
  for await (const line of engine.output.logs(id, { ...options, signal })) {
    lines.push(line)
    if (lines.length < BATCH_LINES) continue
    yield lines
    lines = []
  }
  if (lines.length > 0) yield lines
}

async function printedSince(
  engine: Engine,
  id: string,
  since: string,
  signal: AbortSignal,
): Promise<OutputLine[]> {
  const lines: OutputLine[] = []
  for await (const line of engine.output.logs(id, { since, signal })) lines.push(line)
  return lines
}

/** Reads ahead in what comes live, and hands on the rest. */
class Ahead {
  readonly #live: AsyncGenerator<OutputLine[], void>
  #next: Promise<IteratorResult<OutputLine[], void>> | null = null

  constructor(live: AsyncGenerator<OutputLine[], void>) {
    this.#live = live
  }

  /** What comes until it is enough, or until the time is up. */
  async take(
    timeoutMs: number,
    isEnough: (lines: OutputLine[]) => boolean = () => false,
  ): Promise<OutputLine[]> {
    const late = delay(timeoutMs, null, { ref: false })
    const lines: OutputLine[] = []
    while (!isEnough(lines)) {
      this.#next ??= this.#live.next()
      // The failure is met by whoever reads on.
      const step = await Promise.race([this.#next.catch(() => null), late])
      if (!step || step.done) break
      this.#next = null
      lines.push(...step.value)
    }
    return lines
  }

  async *rest(): AsyncGenerator<OutputLine[]> {
    const step = await this.#next
    if (step?.done) return
    if (step && step.value.length > 0) yield step.value
    for await (const lines of this.#live) if (lines.length > 0) yield lines
  }
}

/** Whether nothing more comes from a container; one that does not run tells nobody of its removal. */
async function isOver(engine: Engine, id: string, untilEnd: boolean): Promise<boolean> {
  const found = await engine.containers.inspect(id).catch(() => undefined)
  return found === null || (untilEnd && found?.running === false)
}
