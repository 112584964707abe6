/** A line of a chart. */
export interface ChartLine {
  name: string
  /** One for each step. */
  values: (number | null)[]
  /** What has `ended` shares one place in the legend; a `limit` is the same at each step. They come last. */
  kind?: 'ended' | 'limit'
}

/** The limit of what a chart shows, at each of its steps. */
export function limitLine(at: readonly number[], limit: number): ChartLine {
  return { name: 'Limit', values: at.map(() => limit), kind: 'limit' }
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

const STYLES_OF_KIND = {
  ended: { colour: '--faint', dash: [3, 6] },
  limit: { colour: '--danger', dash: [18, 3, 3, 3] },
}

/** The style of a line at a place; with more lines than styles, styles repeat. */
export function styleOf(
  { kind }: Pick<ChartLine, 'kind'>,
  index: number,
): { colour: string; dash: number[] } {
  return kind ? STYLES_OF_KIND[kind] : STYLES[index % STYLES.length]!
}

/** What a chart shows, for screen readers; `none` is what is said of a line without values. */
export function spokenOf(
  title: string,
  lines: readonly ChartLine[],
  format: (value: number) => string,
  none: string,
): string {
  const parts = lines.map(({ name, values, kind }) => {
    if (kind === 'limit') return `${name}: ${format(values[0]!)}`
    const known = values.filter((value) => value !== null)
    if (known.length === 0) return `${name}: ${none}`
    const [now, least, most] = [known.at(-1)!, Math.min(...known), Math.max(...known)].map(format)
    return `${name}: ${kind === 'ended' ? 'ended' : `now ${now}`}, between ${least} and ${most}`
  })
  return `${title}. ${parts.join('; ')}`
}

/** What is drawn at one place. */
interface Gathered {
  place: number
  count: number
}

/** Places, sorted here, with those that are closer than `apart` to the first of a group gathered there. */
export function gathered(places: readonly number[], apart: number): Gathered[] {
  const groups: Gathered[] = []
  for (const place of places.toSorted((left, right) => left - right)) {
    const last = groups.at(-1)
    if (last && place - last.place < apart) last.count++
    else groups.push({ place, count: 1 })
  }
  return groups
}

/** Indexes of values between gaps, which no line would show. */
export function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return Array.from(values, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}
