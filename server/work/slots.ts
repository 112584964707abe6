/** Lets a bounded number of works run at once; others wait in their order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Whether the next work has to wait. */
  get isFull(): boolean {
    return this.#free === 0
  }

  /** Runs a work when there is a slot for it. Throws the signal's reason when it aborts before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#turn(signal)
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1)
      reject(signal!.reason as Error)
    }
    const enter = (): void => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    this.#waiting.push(enter)
    signal?.addEventListener('abort', leave, { once: true })
    return promise
  }
}
