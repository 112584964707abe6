import { type Channel, ChannelError } from '../control/channel.ts'
import type { BoundListener } from '../protocol.ts'
import type { TableImage } from '../table/image.ts'
import { asOlderMessages, sendTable } from '../table/message.ts'
import type { ComingChanges } from './coming-changes.ts'
import type { ServedTable } from './served-table.ts'

/** A worker that takes longer for a part of a table hangs. */
const TABLE_MS = 10_000
/** Messages under way: the next one is ready while one is read, and requests do not wait behind many. */
const TABLE_WINDOW = 2

/** Sends tables to one worker: as changes if it is known which one it has. */
export class TableDelivery {
  #channel: Channel
  /** Whether the worker takes targets as objects, not as JSON text. */
  #isOlder: boolean
  /** The table that the worker has. */
  #given: TableImage | null = null
  /** Changes to it that are sent while they come; `sent` settles some time after they have ended. */
  #coming: { changes: ComingChanges; sent: Promise<unknown> } | null = null

  constructor(channel: Channel, isOlder: boolean) {
    this.#channel = channel
    this.#isOlder = isOlder
  }

  /** Sends changes to the worker's table while they come. Earlier changes are dropped. */
  follow(changes: ComingChanges): void {
    if (this.#given !== changes.base || this.#isOlder) return
    const before = this.#coming
    before?.changes.drop()
    const sent = Promise.resolve(before?.sent)
      .catch(() => {})
      .then(() => this.#send(changes))
    // The error is thrown to the caller that gives the worker a table.
    sent.catch(() => {})
    this.#coming = { changes, sent }
  }

  /** Gives the worker a table. Throws the worker's error, such as a listen error. */
  async give(table: ServedTable): Promise<BoundListener[]> {
    const changes = this.#given && table.changesTo(this.#given)
    this.#given = null
    const listeners = (await this.#change(changes)) ?? (await this.#complete(table.messages))
    this.#given = table.image
    return listeners
  }

  /** Sends only the changes; null if there are none, or they do not apply to the worker's table. */
  async #change(changes: readonly string[] | null): Promise<BoundListener[] | null> {
    try {
      const sent = await this.#endComing(changes ?? [])
      return changes && (await this.#complete(changes.slice(sent)))
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'invalid_table') return null
      throw error
    }
  }

  /** Returns how many of these messages the worker has already taken while they came. */
  async #endComing(messages: readonly string[]): Promise<number> {
    const coming = this.#coming
    this.#coming = null
    if (!coming) return 0
    const { changes, sent } = coming
    if (changes.areFirstOf(messages)) changes.end()
    else changes.drop()
    await sent
    return changes.count
  }

  /** Sends messages that end with the last one of a table. */
  async #complete(messages: readonly string[]): Promise<BoundListener[]> {
    const answer = await this.#send(this.#isOlder ? asOlderMessages(messages) : messages)
    return (answer as { listeners: BoundListener[] }).listeners
  }

  #send(messages: Iterable<string> | AsyncIterable<string>): Promise<unknown> {
    return sendTable(this.#channel, messages, { window: TABLE_WINDOW, timeoutMs: TABLE_MS })
  }
}
