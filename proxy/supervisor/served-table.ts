import type { RouteTable } from '../protocol.ts'
import { TableImage, type TableText } from '../table/image.ts'
import { SentTable } from '../table/sent-table.ts'

interface Changes {
  base: TableImage
  messages: readonly string[]
}

/** A valid table in the form for workers and for its file: whole, or as changes to the one before. */
export class ServedTable {
  readonly image: TableImage
  /** The table before, and the messages that turn it into this one. */
  #changes: Changes | null
  #messages: readonly string[] | null

  constructor(image: TableImage, changes: Changes | null = null, messages: readonly string[] | null = null) {
    this.image = image
    this.#changes = changes
    this.#messages = messages
  }

  /** Returns the table from a whole one, or from changes to `before`. Throws `ChannelError` `invalid_table`. */
  static after(before: TableImage | null, text: TableText): ServedTable {
    const image = TableImage.after(before, text)
    if (text.base && before) return new ServedTable(image, { base: before, messages: text.messages })
    return new ServedTable(image, null, text.messages)
  }

  /** Throws `ChannelError` `invalid_table`. */
  static of(table: RouteTable): ServedTable {
    const messages = [...new SentTable().become(table)]
    const image = TableImage.read(messages)
    return new ServedTable(image, null, messages)
  }

  /** Messages with the whole table. */
  get messages(): readonly string[] {
    return (this.#messages ??= [...this.image.messages()])
  }

  /** Returns messages for a worker that has another table; null if it needs the whole one. */
  changesTo(image: TableImage): readonly string[] | null {
    return this.#changes?.base === image ? this.#changes.messages : null
  }

  /** The addresses that it listens on. */
  get addresses(): string[] {
    return this.image.settings.listeners.map(({ address }) => address)
  }
}
