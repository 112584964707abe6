import { AppError } from '../errors.ts'

/** How fast a body must arrive. */
export class Pace {
  readonly silenceMs: number
  readonly minBytesPerSecond: number
  readonly graceMs: number
  readonly totalMs: number

  constructor(silenceMs: number, minBytesPerSecond = 0, graceMs = 0, totalMs = Infinity) {
    this.silenceMs = silenceMs
    this.minBytesPerSecond = minBytesPerSecond
    this.graceMs = graceMs
    this.totalMs = totalMs
  }

  /** Starts the clock for one body. */
  start(): BodyClock {
    return new BodyClock(this)
  }
}

/** For authenticated callers: an upload may come over a slow line, but not from a client that has gone. */
export const WITH_CREDENTIALS = new Pace(30_000)
/** For unauthenticated callers: no sign-in and no provider's delivery is slower. */
export const WITHOUT_CREDENTIALS = new Pace(10_000, 16 * 1024, 10_000, 100_000)

/** Computes how long the next piece of a body may take. */
class BodyClock {
  readonly #pace: Pace
  readonly #began = performance.now()
  #forgivenMs = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Excludes time in which the server itself was the one that delayed. */
  forgive(ms: number): void {
    this.#forgivenMs += ms
  }

  /** How long to wait for more after `size` bytes have arrived. */
  patienceMs(size: number): number {
    const { silenceMs, minBytesPerSecond, graceMs, totalMs } = this.#pace
    const passedMs = performance.now() - this.#began
    const enoughForMs = minBytesPerSecond === 0 ? Infinity : (size / minBytesPerSecond) * 1_000
    return Math.min(
      silenceMs,
      totalMs - passedMs,
      Math.max(graceMs, enoughForMs) - (passedMs - this.#forgivenMs),
    )
  }
}

/** Waits for a piece of a body. Throws `invalid_request` when it takes longer than allowed. */
export async function within<T>(piece: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new AppError('invalid_request', 'the body arrived too slowly, or stopped: send it again')),
    Math.max(0, patienceMs),
  )
  try {
    return await Promise.race([piece, late])
  } finally {
    clearTimeout(timer)
  }
}
