import { ChannelError } from '../control/channel.ts'
import type { TableSettings } from '../protocol.ts'
import type { Draft } from '../routes/draft.ts'
import type { Routes } from '../routes/routes.ts'
import { TableReader } from '../table/reader.ts'

/** A table that has come whole. */
export interface NewTable {
  draft: Draft
  settings: TableSettings
}

/**
 * The tables that come over one connection to a worker's control socket. Two supervisors may speak to a worker while
 * one takes over from the other, so each table is seen to follow the one that it was made for.
 */
export class TableIntake {
  readonly #routes: Routes
  readonly #reader: TableReader<NewTable>
  /** The routes' epoch when the table that comes was begun. */
  #begunAt = NaN
  /** Their epoch with the table that came last this way. */
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

  /** Takes a message; the table when it was its last, to be swapped in at once. Throws `ChannelError` `invalid_table`. */
  read(message: object): NewTable | null {
    const table = this.#reader.read(message, '')
    if (table) this.#checkEpoch(this.#begunAt)
    return table
  }

  /** Has it take the place of the table in use; resolves when what left is taken care of. */
  swap({ draft, settings }: NewTable): Promise<void> {
    const swapping = this.#routes.swap(draft, settings)
    this.#givenAt = this.#routes.epoch
    return swapping
  }

  #checkEpoch(epoch: number): void {
    if (epoch !== this.#routes.epoch)
      throw new ChannelError('invalid_table', 'another table came over another connection')
  }
}
