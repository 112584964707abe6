/** A line of a chart. */
export interface ChartLine {
  name: string
  /** One for each step. */
  values: (number | null)[]
}

/** A moment that is marked in charts. */
export interface ChartMark {
  /** Unix seconds. */
  at: number
  label: string
}

/** How the lines of a chart are distinguished: by dash and by colour, so that either is enough. */
const STYLES = [
  { colour: '--chart-1', dash: [] },
  { colour: '--chart-2', dash: [7, 4] },
  { colour: '--chart-3', dash: [2, 3] },
  { colour: '--chart-4', dash: [10, 3, 2, 3] },
  { colour: '--chart-5', dash: [14, 4] },
]

/** The style of the line at a place; with more lines than styles, styles repeat. */
export function styleOf(index: number): { colour: string; dash: number[] } {
  return STYLES[index % STYLES.length]!
}

/** Indexes of values between gaps, which no line would show. */
export function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return Array.from(values, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}
