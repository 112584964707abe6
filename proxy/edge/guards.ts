import type { CountsPlace } from '../control/shared-counts.ts'
import { Passwords } from './passwords.ts'
import { RateCells } from './rate-cells.ts'

/** What a worker remembers of the clients of all services that ask for something at their edge. Created with the first one. */
export class Guards {
  readonly #place: CountsPlace | null
  #cells: RateCells | null = null
  #passwords: Passwords | null = null

  /** `place` is shared with the other workers; null for a worker that counts alone. */
  constructor(place: CountsPlace | null = null) {
    this.#place = place
  }

  get cells(): RateCells {
    return (this.#cells ??= new RateCells(this.#place))
  }

  get passwords(): Passwords {
    return (this.#passwords ??= new Passwords())
  }
}
