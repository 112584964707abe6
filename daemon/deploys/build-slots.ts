import { useContext } from '#server/context.ts'

/** A deploy that wants to build. */
interface Builder {
  /** The sequence number of its deploy; lower ones go first. */
  sequence: number
}

interface Waiter extends Builder {
  enter: () => void
  /** The message that it got last. */
  lastMessage: string
  notify: (waiting: string) => void
}

/** Lets `--build-concurrency` builds run at once; each waiting deploy is told its place whenever that changes. */
class BuildSlots {
  readonly #building = new Set<Builder>()
  readonly #waiting: Waiter[] = []

  /** Whether the next build has to wait. */
  get isFull(): boolean {
    return this.#building.size >= useContext().options.buildConcurrency
  }

  /**
   * Waits for a slot and returns a function that releases it. `notify` gets a message about the wait, unless there is none.
   * Throws the signal's reason.
   */
  async take(builder: Builder, notify: (waiting: string) => void, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.isFull) await this.#wait(builder, notify, signal)
    else this.#building.add(builder)
    return () => {
      this.#building.delete(builder)
      this.#admit()
    }
  }

  async #wait(builder: Builder, notify: (waiting: string) => void, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { ...builder, lastMessage: '', notify, enter: resolve }
    waiter.enter = () => {
      this.#building.add(builder)
      resolve()
    }
    const leave = (): void => {
      if (this.#take(waiter)) reject(signal.reason as Error)
    }
    this.#waiting.push(waiter)
    this.#waiting.sort((one, other) => one.sequence - other.sequence)
    this.#notifyAll()
    signal.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Removes a waiter from the queue; false if it is no longer in it. */
  #take(waiter: Waiter): boolean {
    const at = this.#waiting.indexOf(waiter)
    if (at === -1) return false
    this.#waiting.splice(at, 1)
    this.#notifyAll()
    return true
  }

  #admit(): void {
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift()!.enter()
    this.#notifyAll()
  }

  #notifyAll(): void {
    for (const [place, waiter] of this.#waiting.entries()) {
      const builds = this.#building.size === 1 ? '1 build is' : `${this.#building.size} builds are`
      // It does not say of which services: not everyone who reads this log may know of them.
      const waiting = `waiting for a build slot: place ${place + 1} in the queue; ${builds} running`
      if (waiting === waiter.lastMessage) continue
      waiter.lastMessage = waiting
      waiter.notify(waiting)
    }
  }
}

/** The build slots of the whole server. */
export const buildSlots = new BuildSlots()
