import { type Channel, ChannelError } from '../control/channel.ts'
import type { BoundListener } from '../protocol.ts'
import type { TableImage } from '../table/image.ts'
import { asOlderMessages, sendTable } from '../table/message.ts'
import type { ComingChanges } from './coming-changes.ts'
import type { ServedTable } from './served-table.ts'

/** A worker that does not take a part of a table in this time hangs. */
const TABLE_MS = 10_000
/** Messages of a table under way: while one is taken the next is there already, and none waits behind many. */
const TABLE_WINDOW = 2

/** Brings tables to one worker: as changes to the one that it has where that is known. */
export class TableDelivery {
  #channel: Channel
  /** The worker takes targets as they are, not as JSON. */
  #isOlder: boolean
  /** The table that the worker has. */
  #given: TableImage | null = null
  /** Changes to it that are sent while they come; `sent` settles some time after they have ended. */
  #coming: { changes: ComingChanges; sent: Promise<unknown> } | null = null

  constructor(channel: Channel, isOlder: boolean) {
    this.#channel = channel
    this.#isOlder = isOlder
  }

  /** Sends changes to the table that the worker has while they come. Nothing becomes of those before them. */
  follow(changes: ComingChanges): void {
    if (this.#given !== changes.base || this.#isOlder) return
    const before = this.#coming
    before?.changes.drop()
    const sent = Promise.resolve(before?.sent)
      .catch(() => {})
      .then(() => this.#send(changes))
    // Whoever gives the worker a table is told.
    sent.catch(() => {})
    this.#coming = { changes, sent }
  }

  /** Gives the worker a table. Throws what it answers, such as a listen error. */
  async give(table: ServedTable): Promise<BoundListener[]> {
    const changes = this.#given && table.changesTo(this.#given)
    this.#given = null
    const listeners = (await this.#change(changes)) ?? (await this.#complete(table.messages))
    this.#given = table.image
    return listeners
  }

  /** Gives it changes alone; null when there are none, or not to the table that it has. */
  async #change(changes: readonly string[] | null): Promise<BoundListener[] | null> {
    try {
      const sent = await this.#endComing(changes ?? [])
      return changes && (await this.#complete(changes.slice(sent)))
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'invalid_table') return null
      throw error
    }
  }

  /** Answers how many of these messages the worker has taken while they came. */
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

  /** Sends messages, the last of a table among them. */
  async #complete(messages: readonly string[]): Promise<BoundListener[]> {
    const answer = await this.#send(this.#isOlder ? asOlderMessages(messages) : messages)
    return (answer as { listeners: BoundListener[] }).listeners
  }

  #send(messages: Iterable<string> | AsyncIterable<string>): Promise<unknown> {
    return sendTable(this.#channel, messages, { window: TABLE_WINDOW, timeoutMs: TABLE_MS })
  }
}
