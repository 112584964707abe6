import type { Priority } from './priority.ts'

/** A stream that has something to send. */
export interface Sender {
  readonly priority: Priority
  /** Sends as much as it may, with `once` just one frame. Returns what keeps it from sending more. */
  sendWaiting(once: boolean): SendResult
  /** Everything that waited was sent. */
  sent(): void
}

export const SENT = 0
/** Its own window is used up. */
export const STREAM_BLOCKED = 1
/** The connection's window is used up, or the client is behind. */
export const CONNECTION_BLOCKED = 2
/** It has more, but sent just one frame. */
export const MORE = 3
export type SendResult = 0 | 1 | 2 | 3

/**
 * Decides which stream sends when not all can: by urgency; incremental streams of the same urgency take turns (RFC 9218 10).
 */
export class Scheduler {
  /** Streams by urgency, each set created on first use: most connections never wait. */
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

  /** Removes a stream, also before its priority changes. */
  remove(sender: Sender): void {
    if (this.#size > 0 && this.#levels[sender.priority.urgency]?.delete(sender)) this.#size--
  }

  /** Lets streams send until none can send any more. */
  run(): void {
    if (this.#size === 0) return
    for (const level of this.#levels) {
      if (!level) continue
      // A stream that is added again during the loop comes up again at its end.
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
