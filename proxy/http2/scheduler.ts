import type { Priority } from './priority.ts'

/** A stream that has something to send. */
export interface Sender {
  readonly priority: Priority
  /** Sends what it may, with `once` a frame. Answers what keeps it from sending more. */
  sendWaiting(once: boolean): SendResult
  /** All that waited has been sent. */
  sent(): void
}

export const SENT = 0
/** Its own window is used up. */
export const STREAM_BLOCKED = 1
/** The connection's is, or the client is behind. */
export const CONNECTION_BLOCKED = 2
/** It has more, but sent one frame. */
export const MORE = 3
export type SendResult = 0 | 1 | 2 | 3

/** Decides which stream sends when not all can: by urgency, and of one urgency each in turn that is incremental (RFC 9218 10). */
export class Scheduler {
  /** By urgency, each made for the first who needs it: most connections never wait. */
  readonly #levels: (Set<Sender> | undefined)[] = []
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(sender: Sender): void {
    const level = (this.#levels[sender.priority.urgency] ??= new Set())
    if (level.has(sender)) return
    level.add(sender)
    this.#size++
  }

  /** Before its priority changes, too. */
  remove(sender: Sender): void {
    if (this.#size > 0 && this.#levels[sender.priority.urgency]?.delete(sender)) this.#size--
  }

  /** Has streams send until none has more that it may send. */
  run(): void {
    if (this.#size === 0) return
    for (const level of this.#levels) {
      if (!level) continue
      // Whoever is added again while a set is walked is met again at its end.
      for (const sender of level) {
        const result = sender.sendWaiting(sender.priority.incremental)
        if (result === CONNECTION_BLOCKED) return
        level.delete(sender)
        if (result === MORE) {
          level.add(sender)
          continue
        }
        this.#size--
        if (result === SENT) sender.sent()
      }
    }
  }
}
