/** How far before the newest printed line a log is read again: lines of several instances do not come in the order of their times. */
const OVERLAP_MS = 5_000
/** How many printed lines are read again at most, besides those of one moment. */
const OVERLAP_LINES = 10_000
/** How many printed lines are remembered: more than come in a moment. */
const REMEMBERED_LINES = 32_768
/** By how many characters at its beginning and at its end a line is known again; others of its length differ there. */
const KEY_CHARACTERS = 32

/** What is needed of a line to know it again. */
export interface Mark {
  /** RFC 3339. */
  ts: string
  text: string
  /** Whether a program wrote it. Lines of the server have the time at which they were written, which may be ahead of others'. */
  isOutput: boolean
}

/**
 * How far a log was printed that can only be read again from a time on. A log grows at its end alone: what was printed comes
 * first when it is read again, and is known by its text, because a server that was killed may have given a line another time.
 * Only the time of the first printed line may have earlier lines that were not printed: it is left out as soon as there are
 * later ones.
 */
export class Position {
  /** The last printed lines: a ring of their times (ms since 1970) and keys. */
  readonly #times = new Float64Array(REMEMBERED_LINES)
  readonly #keys = new Int32Array(REMEMBERED_LINES)
  #count = 0
  /** From then on every printed line is remembered. */
  #remembered = -Infinity
  #first: { time: number; key: number } | null = null
  /** Everything from then on is wanted. */
  #start: number | null = null
  #newest: { time: number; count: number } | null = null
  #newestOfOutput: number | null = null

  /** Has the log begin behind a line that is not printed itself. */
  beginAfter({ ts }: Pick<Mark, 'ts'>): void {
    this.#start = Date.parse(ts) + 1
  }

  /** Counts a printed line. */
  add({ ts, text, isOutput }: Mark): void {
    const time = Date.parse(ts)
    const key = keyOf(text)
    if (this.#start === null) {
      this.#first = { time, key }
      this.#start = time + 1
    }
    const place = this.#count++ % REMEMBERED_LINES
    if (this.#count > REMEMBERED_LINES) this.#remembered = Math.max(this.#remembered, this.#times[place]! + 1)
    this.#times[place] = time
    this.#keys[place] = key
    if (this.#newest === null || time > this.#newest.time) this.#newest = { time, count: 0 }
    if (time === this.#newest.time) this.#newest.count++
    if (isOutput) this.#newestOfOutput = Math.max(this.#newestOfOutput ?? time, time)
  }

  /** From which time on the log must be read again, in ms since 1970; null if nothing was printed. */
  get since(): number | null {
    const newest = this.#newestOfOutput ?? this.#newest?.time ?? null
    if (newest === null || newest < this.#start!) return newest ?? this.#start
    const since = Math.max(this.#start!, this.#remembered, newest - OVERLAP_MS)
    const times = this.#times.slice(0, this.#count).filter((time) => time >= since && time < newest)
    const surplus = times.sort().at(-OVERLAP_LINES - 1)
    return Math.min(newest, surplus === undefined ? since : surplus + 1)
  }

  /** Begins to read the log again. */
  again(): Passing {
    const { since } = this
    if (since === null) return new Passing(null)
    const left = new Map<number, number>()
    for (let place = 0; place < Math.min(this.#count, REMEMBERED_LINES); place++) {
      const key = this.#keys[place]!
      if (this.#times[place]! >= since) left.set(key, (left.get(key) ?? 0) + 1)
    }
    return new Passing({
      since,
      left,
      first: since === this.#first?.time ? this.#first.key : null,
      atOnce: since < this.#remembered && since === this.#newest?.time ? this.#newest.count : 0,
    })
  }
}

interface Known {
  since: number
  /** How often the printed lines come again, by their keys. */
  left: Map<number, number>
  /** The first printed line, if lines of its time may come that were not printed: they come before it. */
  first: number | null
  /** How many lines of the time `since` were printed, if they were too many to remember. */
  atOnce: number
}

/** Passes over the lines that were printed, while a log is read again. */
export class Passing {
  readonly #known: Known | null
  #hasMet = false
  #isGap = false

  constructor(known: Known | null) {
    this.#known = known
  }

  get since(): number | null {
    return this.#known?.since ?? null
  }

  /** Whether a line was printed before, or comes before all that were. Takes the lines in the order of the log. */
  isKnown({ ts, text }: Pick<Mark, 'ts' | 'text'>): boolean {
    if (this.#known === null) return false
    const isKnown = this.#find(this.#known, Date.parse(ts), keyOf(text))
    if (isKnown) this.#hasMet = true
    else this.#isGap ||= !this.#hasMet && this.#known.left.size > 0
    return isKnown
  }

  /** Whether a line came as new before any that was printed, so that lines are missing between them. */
  get isGap(): boolean {
    return this.#isGap
  }

  #find(known: Known, time: number, key: number): boolean {
    if (time < known.since) return true
    if (time === known.since && known.first !== null) {
      if (key !== known.first) return true
      known.first = null
    }
    if (time === known.since && known.atOnce > 0) return known.atOnce-- > 0
    const left = known.left.get(key) ?? 0
    if (left > 0) known.left.set(key, left - 1)
    return left > 0
  }
}

/** A number that few other lines have (FNV-1a). */
function keyOf(text: string): number {
  let key = text.length
  const add = (from: number, to: number): void => {
    for (let at = from; at < to; at++) key = Math.imul(key ^ text.charCodeAt(at), 16_777_619)
  }
  add(0, Math.min(text.length, KEY_CHARACTERS))
  add(Math.max(KEY_CHARACTERS, text.length - KEY_CHARACTERS), text.length)
  return key
}
