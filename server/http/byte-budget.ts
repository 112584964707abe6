import { AppError } from '../errors.ts'

/** What bodies without credentials may hold at once, in memory and in files. */
const BUDGET_BYTES = 32 * 1024 * 1024
/** Longer than an honest body takes. */
const WAIT_MS = 10_000
/** Each that waits has one piece in its hand, of at most 64 KiB. */
const MAX_WAITING = 256

interface Waiter {
  bytes: number
  /** With these it would hold so many. */
  total: number
  admit(): void
}

/**
 * Bytes that many share. Who finds none left waits a while; what is freed goes first to who holds least, so that large
 * bodies do not keep small ones out.
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

  /** Whether so many bytes are left; they are taken then. */
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
      `the server takes no more bodies without credentials at this moment: try again in ${seconds} seconds`,
      { retryAfterSeconds: seconds },
    )
  }
}

/** What one body holds of a budget. */
export class ByteShare {
  readonly #budget: ByteBudget
  #held = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** Takes bytes when they are left; answers whether they were. */
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

  /** Gives everything back; safe to call twice. */
  release(): void {
    this.#budget.free(this.#held)
    this.#held = 0
  }
}
