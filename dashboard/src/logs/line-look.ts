import { timeText, type LogLine } from './line.ts'
import { segmentsOf, type Segment } from './segments.ts'

/** What is shown of the lines of a log, and how. */
export interface LogLook {
  /** Lines have numbers that stay, as they are read from the first line of their log. */
  numbered: boolean
  /** What is searched for, in lower case; empty for nothing. */
  query: string
  wrap: boolean
  times: boolean
  /** Times are shown with their date. */
  dated: boolean
  instances: boolean
}

/** How a line is shown. */
export interface LineLook {
  classes: string
  /** Null where times are not shown. */
  time: string | null
  /** Its parts, if not all of it looks the same. */
  segments: Segment[] | null
}

/** How many of them are kept: more than are drawn, and few next to the lines of a log. */
const KEPT = 1_000

/** Returns what finds out how lines are shown. It keeps some: most rows of a log are drawn again as they were. */
export function lineLooks(look: LogLook): (line: LogLine) => LineLook {
  const known = new Map<LogLine, LineLook>()
  return (line) => {
    const found = known.get(line) ?? lookOf(line, look)
    if (known.size >= KEPT) known.clear()
    known.set(line, found)
    return found
  }
}

function lookOf(line: LogLine, { query, wrap, times, dated }: LogLook): LineLook {
  const isSystem = line.kind === 'system'
  const classes = ['log-row', `log-${line.kind}`, wrap || isSystem ? 'log-wrap' : 'log-nowrap']
  if (line.origin) classes.push(`log-level-${line.origin.level}`)
  // The last line that the server writes about a deploy or a run that failed.
  if (isSystem && line.plain.startsWith('failed: ')) classes.push('log-failed')
  const segments = segmentsOf(line.text, line.plain, query)
  return {
    classes: classes.join(' '),
    time: times ? timeText(line.ts, dated) : null,
    segments: segments.length === 1 && isPlain(segments[0]!) ? null : segments,
  }
}

function isPlain({ classes, colour, background, found }: Segment): boolean {
  return classes.length === 0 && colour === undefined && background === undefined && !found
}
