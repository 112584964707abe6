import { ChannelError } from '../control/channel.ts'
import type { TableSettings } from '../protocol.ts'
import type { Draft } from '../routes/draft.ts'
import type { Routes } from '../routes/routes.ts'
import { TableReader } from '../table/reader.ts'

/** A table that has arrived completely. */
export interface NewTable {
  draft: Draft
  settings: TableSettings
}

/**
 * The tables that come over one connection to a worker's control socket. Two supervisors may talk to a worker while one
 * takes over from the other, so each table is checked to follow the one that it was made for.
 */
export class TableIntake {
  readonly #routes: Routes
  readonly #reader: TableReader<NewTable>
  /** The epoch of the routes when the incoming table was begun. */
  #begunAt = NaN
  /** The epoch of the routes after the last table from this connection. */
  #givenAt = NaN

  constructor(routes: Routes) {
    this.#routes = routes
    this.#reader = new TableReader((base) => {
      if (base) this.#checkEpoch(this.#givenAt)
      this.#begunAt = routes.epoch
      const draft = routes.draft(base)
      return { add: (entries) => draft.add(entries), end: (settings) => ({ draft, settings }) }
    })
  }

  /**
   * Reads a message; returns the table after its last one, to be swapped in at once. Throws `ChannelError` `invalid_table`.
   */
  read(message: object): NewTable | null {
    const table = this.#reader.read(message, '')
    if (table) this.#checkEpoch(this.#begunAt)
    return table
  }

  /** Replaces the table in use; resolves when everything that left it has been closed. */
  swap({ draft, settings }: NewTable): Promise<void> {
    const swapping = this.#routes.swap(draft, settings)
    this.#givenAt = this.#routes.epoch
    return swapping
  }

  #checkEpoch(epoch: number): void {
    if (epoch !== this.#routes.epoch)
      throw new ChannelError('invalid_table', 'another connection has sent a table in the meantime')
  }
}
