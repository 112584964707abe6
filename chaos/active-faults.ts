import { setTimeout as delay } from 'node:timers/promises'
import type { Draw } from './draw.ts'
import type { Fault } from './faults.ts'
import type { Rig } from './rig.ts'

/** A fault begins within this time of its round. */
const BEGINS_WITHIN_MS = 400
/** One that ends in its round lasts up to this long. */
const LASTS_MS = 1_500
/** What a full disk refused may be answered this many rounds later. */
const ROUNDS_OF_DOUBT = 2

/** A fault and the round in which it was struck. */
export interface Struck {
  name: string
  round: number
}

interface Active {
  fault: Fault
  roundsLeft: number
  end: () => Promise<void>
}

/** The faults that last, and those that were struck since everything was quiet. */
export class ActiveFaults {
  /** How often each fault was struck. */
  readonly counts: Record<string, number> = {}
  struck: Struck[] = []
  readonly #rig: Rig
  readonly #faults: readonly Fault[]
  #active: Active[] = []

  constructor(rig: Rig, faults: readonly Fault[]) {
    this.#rig = rig
    this.#faults = faults
  }

  get names(): string[] {
    return this.#active.map(({ fault }) => fault.name)
  }

  /** Whether the disk is full, or was a moment ago. */
  isDiskFull(round: number): boolean {
    const isRecent = ({ name, round: at }: Struck): boolean =>
      name === 'disk full' && at >= round - ROUNDS_OF_DOUBT
    return this.names.includes('disk full') || this.struck.some(isRecent)
  }

  /**
   * Draws a fault and strikes it, unless one of its kind lasts; `during` runs while it is new. Returns when one of a single
   * round may end.
   */
  async strike(round: number, draw: Draw, during: () => Promise<void>): Promise<void> {
    const fault = draw.weighted(this.#faults)
    const [pause, lasts] = [draw.below(BEGINS_WITHIN_MS), draw.below(LASTS_MS)]
    const rounds = 1 + draw.below(fault.rounds)
    if (this.#active.some(({ fault: { kind } }) => kind === fault.kind)) return
    await delay(pause)
    this.#rig.note(`  fault: ${fault.name}`)
    const end = await fault.strike(this.#rig, draw)
    if (!end) return
    this.counts[fault.name] = (this.counts[fault.name] ?? 0) + 1
    this.struck.push({ name: fault.name, round })
    this.#active.push({ fault, roundsLeft: rounds, end })
    await during()
    await delay(lasts)
  }

  /** Ends the faults whose time is up. */
  async endRound(): Promise<void> {
    for (const active of this.#active) active.roundsLeft--
    await this.#end(({ roundsLeft }) => roundsLeft <= 0)
  }

  async endAll(): Promise<void> {
    await this.#end(() => true)
  }

  async #end(isOver: (active: Active) => boolean): Promise<void> {
    const over = this.#active.filter(isOver)
    this.#active = this.#active.filter((active) => !isOver(active))
    for (const { end } of over) await end()
  }
}
