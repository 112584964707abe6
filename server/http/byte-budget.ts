import { AppError } from '../errors.ts'

/** How much all bodies without credentials may hold at once, in memory and in files. */
const BUDGET_BYTES = 32 * 1024 * 1024
/** Longer than an honest client takes for a body. */
const WAIT_MS = 10_000
/** Each waiting body has one piece in hand, of at most 64 KiB. */
const MAX_WAITING = 256

interface Waiter {
  bytes: number
  /** How much its share would hold with these bytes. */
  total: number
  admit(): void
}

/**
 * A number of bytes that many share. A share that finds none left waits a while; freed bytes go first to the one that holds
 * least, so that large bodies do not keep small ones out.
 */
export class ByteBudget {
  readonly #waitMs: number
  #free: number
  readonly #waiting = new Set<Waiter>()

  constructor(bytes: number = BUDGET_BYTES, waitMs: number = WAIT_MS) {
    this.#free = bytes
    this.#waitMs = waitMs
  }

  /** Opens a share, which must be released. */
  open(): ByteShare {
    return new ByteShare(this)
  }

  /** Takes bytes if so many are left; returns whether it did. */
  tryTake(bytes: number): boolean {
    if (this.#free < bytes) return false
    this.#free -= bytes
    return true
  }

  /** Waits for bytes. Throws `service_unavailable` when none become free in time. */
  async wait(bytes: number, held: number): Promise<void> {
    if (this.#waiting.size >= MAX_WAITING) throw this.#exhausted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { bytes, total: held + bytes, admit: resolve }
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter)
      reject(this.#exhausted())
    }, this.#waitMs)
    this.#waiting.add(waiter)
    await promise.finally(() => clearTimeout(timer))
  }

  /** Gives bytes back. */
  free(bytes: number): void {
    this.#free += bytes
    for (const waiter of [...this.#waiting].toSorted((a, b) => a.total - b.total)) {
      if (!this.tryTake(waiter.bytes)) return
      this.#waiting.delete(waiter)
      waiter.admit()
    }
  }

  #exhausted(): AppError {
    const seconds = Math.ceil(this.#waitMs / 1_000)
    return new AppError(
      'service_unavailable',
      `the server is receiving too many unauthenticated requests at once: try again in ${seconds} seconds`,
      { retryAfterSeconds: seconds },
    )
  }
}

/** The part of a budget that one body holds. */
export class ByteShare {
  readonly #budget: ByteBudget
  #held = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** Takes bytes if they are left; returns whether it did. */
  tryTake(bytes: number): boolean {
    const taken = this.#budget.tryTake(bytes)
    if (taken) this.#held += bytes
    return taken
  }

  /** Waits for bytes. Throws `service_unavailable`. */
  async wait(bytes: number): Promise<void> {
    await this.#budget.wait(bytes, this.#held)
    this.#held += bytes
  }

  /** Gives back all bytes; safe to call twice. */
  release(): void {
    this.#budget.free(this.#held)
    this.#held = 0
  }
}
