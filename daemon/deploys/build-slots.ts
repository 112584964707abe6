import { useContext } from '#server/context.ts'

/** A deploy that wants to build. */
export interface Builder {
  /** Of its deploy; the earlier ones come first. */
  sequence: number
  /** Its service, for those who wait behind it. */
  name: string
}

interface Waiter extends Builder {
  enter: () => void
  /** What it was told last. */
  told: string
  tell: (waiting: string) => void
}

/** Lets `--build-concurrency` builds run at once; who waits is told for whom, whenever that changes. */
class BuildSlots {
  readonly #building = new Set<Builder>()
  readonly #waiting: Waiter[] = []

  /** Whether the next build has to wait. */
  get isFull(): boolean {
    return this.#building.size >= useContext().options.buildConcurrency
  }

  /**
   * Waits for a slot and answers what gives it back. `tell` gets what it waits for; nothing when it does not wait.
   * Throws the signal's reason.
   */
  async take(builder: Builder, tell: (waiting: string) => void, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.isFull) await this.#wait(builder, tell, signal)
    else this.#building.add(builder)
    return () => {
      this.#building.delete(builder)
      this.#admit()
    }
  }

  async #wait(builder: Builder, tell: (waiting: string) => void, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { ...builder, told: '', tell, enter: resolve }
    waiter.enter = () => {
      this.#building.add(builder)
      resolve()
    }
    const leave = (): void => {
      if (this.#take(waiter)) reject(signal.reason as Error)
    }
    this.#waiting.push(waiter)
    this.#waiting.sort((one, other) => one.sequence - other.sequence)
    this.#tellAll()
    signal.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Takes one out of the queue; false when it is no longer in it. */
  #take(waiter: Waiter): boolean {
    const at = this.#waiting.indexOf(waiter)
    if (at === -1) return false
    this.#waiting.splice(at, 1)
    this.#tellAll()
    return true
  }

  #admit(): void {
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift()!.enter()
    this.#tellAll()
  }

  #tellAll(): void {
    for (const [place, waiter] of this.#waiting.entries()) {
      const builds = [...this.#building].map(({ name }) => name).join(', ')
      const waiting = `waiting for a build slot: place ${place + 1} in the queue, while ${builds} ${this.#building.size === 1 ? 'builds' : 'build'}`
      if (waiting === waiter.told) continue
      waiter.told = waiting
      waiter.tell(waiting)
    }
  }
}

/** Of the whole server. */
export const buildSlots = new BuildSlots()
