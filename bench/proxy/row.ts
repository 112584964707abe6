import type { Contender, Program } from './programs.ts'
import type { Stand } from './stand.ts'

/** Everybody's programs, started together. */
export interface Launch {
  stand: Stand
  programs: Map<Contender, Program>
  /** With two workers each, started when they are first asked for. */
  pairs: Map<Contender, Program>
  /** How long each load lasts. */
  seconds: number
}

/** What was measured, by the measure's key. */
export type Figures = Record<string, number>

/** What a figure is held against. */
export interface Target {
  /** Ours is to be so many times as good as theirs; null: the figure itself is bounded. */
  against: Contender | null
  atLeast?: number
  /** What is aimed at beyond that. */
  after?: number
}

/** One line of the table. */
export interface Measure {
  key: string
  /** What it is of the row's work. */
  label: string
  better: 'more' | 'less'
  format(value: number): string
  targets: Target[]
  /** Says nothing about who is better. */
  uncompared?: boolean
  /** Who stands in nginx's column, where that is not nginx as it comes. */
  nginx?: Contender
}

/** A kind of work, measured for each contender in turn. */
export interface Row {
  /** What `--only` calls it. */
  name: string
  work: string
  contenders: Contender[]
  /** Once a launch, on programs of its own, in place of each round. */
  once?: boolean
  run(launch: Launch, contender: Contender): Promise<Figures>
  measures: Measure[]
}
