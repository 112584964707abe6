import type { TablePart, TableSettings, TableMessage } from '../protocol.ts'
import { fail } from './checks.ts'
import { validateSettings } from './validation.ts'

/** Receives a table while it is read. */
export interface Sink<Table> {
  /** Adds entries that were not checked yet; `text` is the message as JSON. */
  add(entries: TablePart, text: string): void
  end(settings: TableSettings): Table
}

/**
 * Reads the tables that come over one connection, in one or many messages. A table is never applied in part: nothing changes
 * until the last message has come, and a fault drops all of it.
 */
export class TableReader<Table> {
  #begin: (base: boolean) => Sink<Table>
  #sink: Sink<Table> | null = null
  #base = false
  #next = 0

  /** `begin` is called for each table; `base` says whether its entries are changes to the one before. */
  constructor(begin: (base: boolean) => Sink<Table>) {
    this.#begin = begin
  }

  /**
   * Reads one message, with its JSON in `text`. Returns the table after the last one, else null. Throws `ChannelError`
   * `invalid_table`.
   */
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

  /** Returns the sink for a part. After a fault, nothing is left of the incoming table. */
  #take(part: number, base: boolean): Sink<Table> {
    const sink = this.#sink
    this.#sink = null
    if (part === 0) return this.#begin(base)
    if (!sink || part !== this.#next || base !== this.#base)
      fail(`part ${part}`, 'comes after an invalid part, or out of order')
    return sink
  }
}

/** Converts targets to JSON text where an older program, or its file, gives them as objects. */
function withTexts(entries: TablePart): TablePart {
  const targets: unknown = entries?.targets
  if (!Array.isArray(targets)) return entries
  for (const entry of targets as unknown[][]) {
    if (typeof entry?.[1] === 'object' && entry[1] !== null) entry[1] = JSON.stringify(entry[1])
  }
  return entries
}
