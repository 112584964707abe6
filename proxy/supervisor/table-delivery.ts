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
  /** Changes to it that are sent while they come, and whether the worker has taken all that came. */
  #coming: { changes: ComingChanges; taken: Promise<boolean> } | null = null

  constructor(channel: Channel, isOlder: boolean) {
    this.#channel = channel
    this.#isOlder = isOlder
  }

  /** Sends changes to the table that the worker has while they come; those before them have been ended. */
  follow(changes: ComingChanges): void {
    if (this.#given !== changes.base || this.#isOlder) return
    const taken = Promise.resolve(this.#coming?.taken)
      .then(() => this.#send(changes))
      .then(
        () => true,
        () => false,
      )
    this.#coming = { changes, taken }
  }

  /** Gives the worker a table. Throws what it answers, such as a listen error. */
  async give(table: ServedTable): Promise<BoundListener[]> {
    const changes = this.#given && table.changesTo(this.#given)
    this.#given = null
    const taken = await this.#takenOf(changes ?? [])
    const listeners =
      (changes && (await this.#change(changes.slice(taken)))) ?? (await this.#replace(table.messages))
    this.#given = table.image
    return listeners
  }

  /** How many of these messages the worker has taken already: all that were followed, or none. */
  async #takenOf(messages: readonly string[]): Promise<number> {
    const coming = this.#coming
    this.#coming = null
    // They are in this table or will never be in one: it has come whole.
    coming?.changes.end()
    const taken = await coming?.taken
    return coming && taken && coming.changes.begin(messages) ? coming.changes.count : 0
  }

  /** Gives it changes alone; null when they are not to the table that it has. */
  async #change(messages: readonly string[]): Promise<BoundListener[] | null> {
    try {
      return await this.#replace(messages)
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'invalid_table') return null
      throw error
    }
  }

  /** Sends messages with the last of a table. */
  async #replace(messages: readonly string[]): Promise<BoundListener[]> {
    const answer = await this.#send(this.#isOlder ? asOlderMessages(messages) : messages)
    return (answer as { listeners: BoundListener[] }).listeners
  }

  #send(messages: Iterable<string> | AsyncIterable<string>): Promise<unknown> {
    return sendTable(this.#channel, messages, { window: TABLE_WINDOW, timeoutMs: TABLE_MS })
  }
}
