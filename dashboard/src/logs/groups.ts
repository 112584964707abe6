import type { DeployStep } from '../api/types.ts'
import type { LogLine } from './line.ts'
import { firstIndex } from './row-heights.ts'

/** A step of a log with its lines, or consecutive lines that belong to no step. */
export interface LogGroup {
  step: DeployStep | null
  /** Indexes of its lines, ascending, without those that only repeat what the heading of the step shows. */
  lines: number[]
}

/** Groups the lines of a log by their steps, although those of steps that run at the same time are mixed. */
export class LogGroups {
  #groups: LogGroup[] = []
  readonly #places = new Map<string, number>()
  #lines: readonly LogLine[] = []
  #first = 0
  /** How many lines and steps have a place. */
  #read = 0
  #begun = 0

  /** In the order in which they began. */
  get groups(): readonly LogGroup[] {
    return this.#groups
  }

  /** Adds the lines and steps that have come since the last call; another log is grouped from its beginning. */
  update(lines: readonly LogLine[], steps: readonly DeployStep[]): void {
    const first = lines[0]?.number ?? 0
    const isSame = lines === this.#lines && first === this.#first && lines.length >= this.#read
    if (!isSame || steps.length < this.#begun) this.#restart(lines, first)
    for (; this.#read < lines.length; this.#read++) this.#add(lines[this.#read]!, steps)
    while (this.#begun < steps.length) this.#begin(steps)
    for (const step of steps) this.#groups[this.#places.get(step.id)!]!.step = step
  }

  /** The place of the group that a line is in. */
  placeOf(line: number): number {
    const place = this.#places.get(this.#lines[line]?.step ?? '')
    if (place !== undefined) return place
    return this.#groups.findIndex(
      ({ step, lines }) => step === null && lines[0]! <= line && line <= lines.at(-1)!,
    )
  }

  #restart(lines: readonly LogLine[], first: number): void {
    this.#groups = []
    this.#places.clear()
    this.#lines = lines
    this.#first = first
    this.#read = 0
    this.#begun = 0
  }

  #add(line: LogLine, steps: readonly DeployStep[]): void {
    if (line.step !== null && !this.#places.has(line.step)) {
      const last = steps.findIndex(({ id }) => id === line.step)
      while (this.#begun <= last) this.#begin(steps)
    }
    const place = line.step === null ? undefined : this.#places.get(line.step)
    if (place === undefined) return this.#addLoose(line, steps)
    const { step, lines } = this.#groups[place]!
    if (!repeatsHeading(line, step!)) lines.push(this.#read)
  }

  #addLoose({ ts }: LogLine, steps: readonly DeployStep[]): void {
    // Steps without a line of their own that began before it.
    while (this.#begun < steps.length && steps[this.#begun]!.started_at <= ts) this.#begin(steps)
    const last = this.#groups.at(-1)
    if (last && last.step === null) last.lines.push(this.#read)
    else this.#groups.push({ step: null, lines: [this.#read] })
  }

  #begin(steps: readonly DeployStep[]): void {
    const step = steps[this.#begun++]!
    this.#places.set(step.id, this.#groups.length)
    this.#groups.push({ step, lines: [] })
  }
}

/** A step of a build is announced by `#3 [2/4] RUN npm ci`, again whenever another one has printed, and ends with `#3 DONE 1.2s`. */
function repeatsHeading({ kind, plain }: LogLine, { id, name }: DeployStep): boolean {
  const [, number] = /^build-(\d+)/.exec(id) ?? []
  if (number === undefined || kind !== 'stdout' || !plain.startsWith(`#${number} `)) return false
  const said = plain.slice(number.length + 2)
  return said.startsWith(name) || /^(?:CACHED|ERROR|DONE \d+\.\ds)$/.test(said)
}

/** Consecutive rows of a log: a heading, if it has one, and below it lines with ascending numbers. */
export interface LogSection {
  /** Null for the lines of a log without steps. */
  group: LogGroup | null
  /** Its first row. */
  start: number
  /** Whether that is the heading of a step. */
  headings: 0 | 1
  /** How many of its lines are shown: all or none of those that there were. */
  lines: number
}

/** What is shown of a log, row by row. */
export interface LogRows {
  count: number
  sections: readonly LogSection[]
  /** The place of the section that a row is in. */
  placeAt: (row: number) => number
  /** The index of the line in a row; -1 for the heading of a step. */
  lineAt: (row: number) => number
  /** The group whose heading is in a row; null for a line. */
  headingAt: (row: number) => LogGroup | null
  /** The row of a line; of the heading of its step while that is folded. */
  rowOf: (line: number) => number
  /** The row of the heading of a step; -1 if there is none. */
  headingRowOf: (id: string) => number
}

/** Every line as it came. */
export function plainRows(count: number): LogRows {
  return {
    count,
    sections: [{ group: null, start: 0, headings: 0, lines: count }],
    placeAt: () => 0,
    lineAt: (row) => row,
    headingAt: () => null,
    rowOf: (line) => line,
    headingRowOf: () => -1,
  }
}

/** A heading for each step, and the lines of those that are open. */
export function foldedRows(grouped: LogGroups, isOpen: (step: DeployStep) => boolean): LogRows {
  let count = 0
  const sections = grouped.groups.map((group): LogSection => {
    const { step, lines } = group
    const shown = step === null || isOpen(step) ? lines.length : 0
    const section = { group, start: count, headings: step ? 1 : 0, lines: shown } as const
    count += section.headings + shown
    return section
  })
  const placeAt = (row: number): number => firstIndex(sections.length, (at) => sections[at]!.start > row) - 1
  return {
    count,
    sections,
    placeAt,
    lineAt(row) {
      const { group, start, headings, lines } = sections[placeAt(row)] ?? NOTHING
      const at = row - start - headings
      return at < lines ? (group?.lines[at] ?? -1) : -1
    },
    headingAt(row) {
      const { group, start, headings } = sections[placeAt(row)] ?? NOTHING
      return row < start + headings ? group : null
    },
    headingRowOf: (id) => sections.find(({ group }) => group?.step?.id === id)?.start ?? -1,
    rowOf(line) {
      const { group, start, headings, lines } = sections[grouped.placeOf(line)] ?? NOTHING
      const at = firstIndex(lines, (at) => group!.lines[at]! >= line)
      return at < lines && group!.lines[at] === line ? start + headings + at : start
    },
  }
}

/** The section of a row or line that does not exist. */
const NOTHING: LogSection = { group: null, start: -1, headings: 0, lines: 0 }

/** How many of the last lines of a failed step are searched for its error. */
const ERROR_LINES = 40
const ERROR = /\berr(?:or)?\b|\bfail(?:ed|ure)?\b|\bfatal\b|\bpanic\b|exception|not found|cannot|denied/i

/** The index of the line that most likely says why a log's deploy failed: in its failed step, else its last line; -1 for none. */
export function errorLine(grouped: LogGroups, lines: readonly LogLine[]): number {
  const failed = grouped.groups.findLast(({ step }) => step?.status === 'failed')
  if (!failed || failed.lines.length === 0)
    return lines.findLastIndex(({ kind, plain }) => kind === 'system' && plain.startsWith('failed: '))
  const last = failed.lines.slice(-ERROR_LINES).filter((index) => lines[index]!.plain.trim() !== '')
  return last.find((index) => ERROR.test(lines[index]!.plain)) ?? last.at(-1) ?? failed.lines.at(-1)!
}
