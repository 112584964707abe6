import { log } from '../log.ts'

/** Max bytes that one process holds for clients that do not take them. */
export const HELD_BUDGET_BYTES = 256 * 1024 * 1024
/** However many are ended, one line is logged per this period. */
const LOG_EVERY_MS = 10_000

/** Something that holds bytes for a client. */
export interface Holder {
  /** The bytes; only `Held` sets this. */
  heldBytes: number
  /** Ends the connection or stream that it holds bytes for. */
  giveUp(): void
}

/**
 * Counts all bytes that this process holds for clients. Above the budget, the holders that have waited longest are ended.
 */
export class Held {
  bytes = 0
  budgetBytes: number
  /** In the order in which they began to hold something; a holder that was empty starts at the end again. */
  readonly #holders = new Set<Holder>()
  #isSweeping = false
  #ended = 0

  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes
  }

  /** Records how many bytes a holder holds now. */
  set(holder: Holder, bytes: number): void {
    const before = holder.heldBytes
    if (bytes === before) return
    holder.heldBytes = bytes
    if (before === 0) this.#holders.add(holder)
    else if (bytes === 0) this.#holders.delete(holder)
    this.add(bytes - before)
  }

  /** Counts bytes that belong to no single holder; a negative number subtracts. */
  add(bytes: number): void {
    this.bytes += bytes
    if (this.bytes <= this.budgetBytes || this.#isSweeping) return
    this.#isSweeping = true
    // Later, so that no holder is ended while it is being worked on.
    setImmediate(() => this.#sweep())
  }

  #sweep(): void {
    this.#isSweeping = false
    for (const holder of this.#holders) {
      if (this.bytes <= this.budgetBytes) return
      // Its socket frees the memory a moment later.
      this.set(holder, 0)
      holder.giveUp()
      if (this.#ended++ === 0) setTimeout(() => this.#logEnded(), LOG_EVERY_MS).unref()
    }
  }

  #logEnded(): void {
    log('warn', 'clients do not read their answers; ended those that held memory for longest', {
      ended: this.#ended,
      budget_bytes: this.budgetBytes,
    })
    this.#ended = 0
  }
}

export const held = new Held(HELD_BUDGET_BYTES)
