import type { Channel } from '../control/channel.ts'
import type { Pace } from '../table/message.ts'

/**
 * Messages of a table that a worker gets while those after them still come: it reads them meanwhile, and makes nothing of
 * them before it has the last, which this never sends. The first message of another table drops what was sent.
 */
export class Lead {
  readonly messages: readonly string[]
  #send: (message: string) => Promise<unknown>
  #window: number
  #sent = 0
  #known = 0
  #underWay = 0

  constructor(messages: readonly string[], channel: Channel, { window, timeoutMs }: Pace) {
    this.messages = messages
    this.#send = (message) => channel.request('table', message, timeoutMs)
    this.#window = window
  }

  /** Sends what has come by now. */
  advance(): void {
    this.#known = this.messages.length
    this.#sendSome()
  }

  /** Sends no more; gives what was not sent. */
  stop(): readonly string[] {
    this.#known = 0
    return this.messages.slice(this.#sent)
  }

  #sendSome(): void {
    while (this.#sent < this.#known && this.#underWay < this.#window) {
      this.#underWay++
      this.#send(this.messages[this.#sent++]!).then(
        () => this.#answered(),
        // The messages after it are refused as well: that is seen by who sends the last.
        () => this.stop(),
      )
    }
  }

  #answered(): void {
    this.#underWay--
    this.#sendSome()
  }
}
