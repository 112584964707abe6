import type { TablePart, TableSettings, TableMessage } from '../protocol.ts'
import { fail } from './checks.ts'
import { validateEntries, validateSettings } from './validation.ts'

/** What becomes of a table while it is read. */
export interface Sink<Table> {
  /** `text` is the message in JSON, `isLast` whether none comes after it. */
  add(entries: TablePart, text: string, isLast: boolean): void
  end(settings: TableSettings): Table
}

/**
 * Reads the tables that come over one connection, in one or many messages. A table is never taken in part: what was
 * read changes nothing until the last message has come, and a fault drops all of it.
 */
export class TableReader<Table> {
  #begin: (base: boolean) => Sink<Table>
  #sink: Sink<Table> | null = null
  #next = 0

  /** `begin` is called with each table; it is told whether the entries are changes to the one before. */
  constructor(begin: (base: boolean) => Sink<Table>) {
    this.#begin = begin
  }

  /** The table when this was its last message, else null; `text` is the message in JSON. Throws `ChannelError` `invalid_table`. */
  read(message: object, text: string): Table | null {
    const { part, base, entries, settings } = message as TableMessage
    const sink = part === 0 ? this.#begin(base) : this.#sink
    this.#sink = null
    if (!sink || (part !== 0 && part !== this.#next))
      fail(`part ${part}`, 'comes after a fault or out of order')
    sink.add(validateEntries(entries), text, settings !== undefined)
    if (settings !== undefined) return sink.end(validateSettings(settings))
    this.#next = part + 1
    this.#sink = sink
    return null
  }
}
