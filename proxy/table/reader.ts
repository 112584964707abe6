import type { TablePart, TableSettings, TableMessage } from '../protocol.ts'
import { fail } from './checks.ts'
import { validateSettings } from './validation.ts'

/** What becomes of a table while it is read. */
export interface Sink<Table> {
  /** Entries that nobody has checked yet; `text` is the message in JSON. */
  add(entries: TablePart, text: string): void
  end(settings: TableSettings): Table
}

/**
 * Reads the tables that come over one connection, in one or many messages. A table is never taken in part: what was
 * read changes nothing until the last message has come, and a fault drops all of it.
 */
export class TableReader<Table> {
  #begin: (base: boolean) => Sink<Table>
  #sink: Sink<Table> | null = null
  #base = false
  #next = 0

  /** `begin` is called with each table; it is told whether the entries are changes to the one before. */
  constructor(begin: (base: boolean) => Sink<Table>) {
    this.#begin = begin
  }

  /** The table when this was its last message, else null; `text` is the message in JSON. Throws `ChannelError` `invalid_table`. */
  read(message: object, text: string): Table | null {
    const { part, base, entries, settings } = message as TableMessage
    const sink = this.#take(part, base)
    sink.add(withTexts(entries), text)
    if (settings !== undefined) return sink.end(validateSettings(settings))
    this.#next = part + 1
    this.#base = base
    this.#sink = sink
    return null
  }

  /** What the part goes to. Nothing is left of the table that comes when there is a fault. */
  #take(part: number, base: boolean): Sink<Table> {
    const sink = this.#sink
    this.#sink = null
    if (part === 0) return this.#begin(base)
    if (!sink || part !== this.#next || base !== this.#base)
      fail(`part ${part}`, 'comes after a fault or out of order')
    return sink
  }
}

/** Gives targets as JSON where an older program, or its file, gives them as they are. */
function withTexts(entries: TablePart): TablePart {
  const targets: unknown = entries?.targets
  if (!Array.isArray(targets)) return entries
  for (const entry of targets as unknown[][]) {
    if (typeof entry?.[1] === 'object' && entry[1] !== null) entry[1] = JSON.stringify(entry[1])
  }
  return entries
}
