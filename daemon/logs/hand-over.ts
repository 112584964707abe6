import { setTimeout as delay } from 'node:timers/promises'
import type { LineCounts } from '#server/logs/system-lines.ts'
import type { OutputLine } from '../engine/index.ts'
import type { Live } from './live.ts'
import type { LogReader } from './log-reader.ts'
import { STREAMS, type Stream } from './place.ts'
import { placeByText } from './seam.ts'

/** The shortest silence before a reading of the log that lets it have all that came; and how long it is waited for. */
const SILENT_MS = 4
const PATIENCE_MS = 50
/**
 * Lines are under way from the engine to its log, and to here, for less than a millisecond each, on a busy host for more.
 * So much silence around readings that agree makes sure that none was; of one reading so much counts.
 */
const SURE_MS = 100
/** A program that is never silent is held back then. */
const BRAKE_AFTER_MS = 2_000
/** Between two readings of the log of one that prints little and is not silent either, in the long run. */
const MAX_PAUSE_MS = 1_000
const PAUSE_SHARE = 0.1
/** Lines of the log whose text is compared. */
const RECENT_LINES = 4_000

/**
 * Hands on what the log has until the place of the attachment in it is known, with what that has read; answers how many
 * lines that the attachment holds, and of those that come then, were handed on already. Null when it ends before.
 *
 * The place is how many lines of the log come before the first of the attachment, of each stream. When both are silent,
 * it is the difference of what both have had; where texts differ they tell it. Who prints without a pause and one same
 * line is made to pause: `brake` attaches once more and does not read, which stops the program after about 1 MB.
 * The engine gives what comes to its log, to the attachment, and to the brake, in this order, so the first two have the same.
 */
export async function* handOver(
  live: Live,
  reader: LogReader,
  growingSince: string | null,
  brake: () => void,
): AsyncGenerator<OutputLine[], LineCounts | null> {
  const seams = { stdout: new Seam('stdout', live), stderr: new Seam('stderr', live) }
  const began = performance.now()
  let isBraked = false
  for (;;) {
    live.forget()
    for (const stream of STREAMS) seams[stream].begin()
    await live.silence(SILENT_MS, PATIENCE_MS)
    for (const stream of STREAMS) seams[stream].ask()
    for await (const lines of reader.unread(growingSince)) {
      for (const stream of STREAMS) seams[stream].hand(lines)
      yield lines
    }
    const answered = performance.now()
    const open = STREAMS.filter((stream) => !seams[stream].isSettled)
    // As long as it was silent before: longer and longer where nothing comes, within the pause of who makes short ones.
    const silentMs = Math.min(SURE_MS, ...open.map((stream) => seams[stream].silentMs))
    await live.stillness(open, Math.max(SILENT_MS, silentMs))
    if (live.isOver) return null
    for (const stream of STREAMS) seams[stream].judge(performance.now() - answered)
    if (STREAMS.every((stream) => seams[stream].isMet)) break
    const sinceMs = performance.now() - began
    if (!isBraked && sinceMs > BRAKE_AFTER_MS) brake()
    isBraked ||= sinceMs > BRAKE_AFTER_MS
    if (isBraked) await delay(Math.min(MAX_PAUSE_MS, sinceMs * PAUSE_SHARE))
  }
  return { stdout: seams.stdout.known, stderr: seams.stderr.known }
}

/** Where the attachment's lines of one stream begin among those of the log. */
class Seam {
  readonly #stream: Stream
  readonly #live: Live
  #handed = 0
  #recent: OutputLine[] = []
  /** How many lines of the log come before the first of the attachment, how sure that is, and whether it is settled. */
  #offset = 0
  #sureMs = 0
  isSettled = false
  /** Since when nothing had come when the log was asked. */
  silentMs = 0
  /** Lines that had come when the log was asked, and those before the ones that are held. */
  #asked = 0
  #forgotten = 0

  constructor(stream: Stream, live: Live) {
    this.#stream = stream
    this.#live = live
  }

  /** Before the lines come that are compared; those before them are not held any more. */
  begin(): void {
    this.#forgotten = this.#live.arrived[this.#stream]
  }

  /** Right before the log is asked. */
  ask(): void {
    this.#asked = this.#live.arrived[this.#stream]
    this.silentMs = this.#live.silentMs(this.#stream)
  }

  /** Takes note of what the log has. */
  hand(lines: readonly OutputLine[]): void {
    const own = lines.filter(({ stream }) => stream === this.#stream)
    this.#handed += own.length
    this.#recent = [...this.#recent, ...own].slice(-RECENT_LINES)
  }

  /** After the answer, and so much time for what was under way. */
  judge(waitedMs: number): void {
    if (this.isSettled) return
    if (this.#live.arrived[this.#stream] === this.#asked)
      this.#agree(this.#handed - this.#asked, Math.min(this.silentMs, waitedMs, SURE_MS))
    else this.#compare()
  }

  /** Whether the place is known, and all that came before what is held was handed on. */
  get isMet(): boolean {
    return this.isSettled && this.known >= 0
  }

  /** How many of the lines that are held, and of those that come, were handed on. */
  get known(): number {
    return this.#handed - this.#offset - this.#forgotten
  }

  #agree(offset: number, silentMs: number): void {
    if (silentMs < SILENT_MS) return
    if (offset !== this.#offset) this.#sureMs = 0
    this.#offset = offset
    this.#sureMs += silentMs
    this.isSettled = this.#sureMs >= SURE_MS
  }

  #compare(): void {
    const held = this.#live.held(this.#stream)
    const place = placeByText(this.#recent, held, this.#asked - this.#forgotten)
    if (place === null) return
    this.#offset = this.#handed - this.#recent.length + place - this.#forgotten
    this.isSettled = true
  }
}
