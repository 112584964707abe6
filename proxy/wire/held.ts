import { log } from '../log.ts'

/** What one process holds for clients that do not take it. */
export const HELD_BUDGET_BYTES = 256 * 1024 * 1024
/** However many are ended, the log says so once in this time. */
const COMPLAINT_MS = 10_000

/** Something that holds bytes for a client. */
export interface Holder {
  /** Bytes; set by `Held` alone. */
  heldBytes: number
  /** Ends what it is held for. */
  giveUp(): void
}

/** All bytes that this process holds for clients. Beyond the budget the holders that have waited longest are ended. */
export class Held {
  bytes = 0
  budgetBytes: number
  /** In the order in which they began to hold something: one that has come to nothing begins again. */
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

  /** Counts bytes that no single holder has; a negative number takes away. */
  add(bytes: number): void {
    this.bytes += bytes
    if (this.bytes <= this.budgetBytes || this.#isSweeping) return
    this.#isSweeping = true
    // Not amid what is done for one of them.
    setImmediate(() => this.#sweep())
  }

  #sweep(): void {
    this.#isSweeping = false
    for (const holder of this.#holders) {
      if (this.bytes <= this.budgetBytes) return
      // Its socket frees what was written a moment later.
      this.set(holder, 0)
      holder.giveUp()
      if (this.#ended++ === 0) setTimeout(() => this.#complain(), COMPLAINT_MS).unref()
    }
  }

  #complain(): void {
    log('warn', 'clients do not take what they asked for: those that waited longest were ended', {
      ended: this.#ended,
      budget_bytes: this.budgetBytes,
    })
    this.#ended = 0
  }
}

export const held = new Held(HELD_BUDGET_BYTES)
