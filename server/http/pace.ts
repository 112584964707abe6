import { AppError } from '../errors.ts'

/** How a body must come. */
export class Pace {
  readonly silenceMs: number
  readonly leastBytesPerSecond: number
  readonly graceMs: number
  readonly totalMs: number

  constructor(silenceMs: number, leastBytesPerSecond = 0, graceMs = 0, totalMs = Infinity) {
    this.silenceMs = silenceMs
    this.leastBytesPerSecond = leastBytesPerSecond
    this.graceMs = graceMs
    this.totalMs = totalMs
  }

  /** Starts the clock of one body. */
  start(): BodyClock {
    return new BodyClock(this)
  }
}

/** An upload may come over a bad line, but not from a client that is gone. */
export const WITH_CREDENTIALS = new Pace(30_000)
/** Nobody signs in, and no provider delivers, more slowly. */
export const WITHOUT_CREDENTIALS = new Pace(10_000, 16 * 1024, 10_000, 100_000)

/** Says how long the next piece of a body may take. */
class BodyClock {
  readonly #pace: Pace
  readonly #began = performance.now()
  #forgivenMs = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Leaves out a time in which it was the server that waited. */
  forgive(ms: number): void {
    this.#forgivenMs += ms
  }

  /** How long to wait for more when `size` bytes have come. */
  patienceMs(size: number): number {
    const { silenceMs, leastBytesPerSecond, graceMs, totalMs } = this.#pace
    const passedMs = performance.now() - this.#began
    const enoughForMs = leastBytesPerSecond === 0 ? Infinity : (size / leastBytesPerSecond) * 1_000
    return Math.min(
      silenceMs,
      totalMs - passedMs,
      Math.max(graceMs, enoughForMs) - (passedMs - this.#forgivenMs),
    )
  }
}

/** Waits for a piece of a body. Throws `invalid_request` when it takes longer. */
export async function within<T>(piece: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new AppError('invalid_request', 'the body came too slowly, or stopped: send it again')),
    Math.max(0, patienceMs),
  )
  try {
    return await Promise.race([piece, late])
  } finally {
    clearTimeout(timer)
  }
}
