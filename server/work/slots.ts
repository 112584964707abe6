/** Runs a limited number of tasks at once; others wait in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Whether the next task would have to wait. */
  get isFull(): boolean {
    return this.#free === 0
  }

  /** Runs a task when there is a slot for it. Throws the signal's reason if it aborts before that. */
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
