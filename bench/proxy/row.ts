import type { Contender, Program } from './programs.ts'
import type { Stand } from './stand.ts'

/** The programs of all contenders, started together. */
export interface Launch {
  stand: Stand
  programs: Map<Contender, Program>
  /** Programs with two workers each, started on demand. */
  pairs: Map<Contender, Program>
  /** How long each load lasts. */
  seconds: number
}

/** Measured values, by the measure's key. */
export type Figures = Record<string, number>

/** What a figure must reach. */
export interface Target {
  /** The contender to compare with: our figure must be so many times as good. Null: the figure itself has a bound. */
  against: Contender | null
  atLeast?: number
  /** A further goal. */
  after?: number
}

/** One line of the table. */
export interface Measure {
  key: string
  /** What is measured of the row's work. */
  label: string
  better: 'more' | 'less'
  format(value: number): string
  targets: Target[]
  /** Whether the figure says nothing about which program is better. */
  uncompared?: boolean
  /** The contender in nginx's column, if it is not nginx with its defaults. */
  nginx?: Contender
}

/** A kind of work, measured for each contender in turn. */
export interface Row {
  /** The name for `--only`. */
  name: string
  work: string
  contenders: Contender[]
  /** Whether it is measured once per launch, on programs of its own, instead of in each round. */
  once?: boolean
  run(launch: Launch, contender: Contender): Promise<Figures>
  measures: Measure[]
}
