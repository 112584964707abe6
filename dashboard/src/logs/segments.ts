import Anser from 'anser'
import { colourOf, css, readable } from './colours.ts'

/** The most colours, and matches, shown in one line. Thousands of either in many lines would freeze the page. */
const MAX_STRETCHES = 200

/** A part of a line with one style. */
export interface Segment {
  text: string
  classes: string[]
  /** Only where the program asked for one. */
  colour?: string
  background?: string
  /** Part of what was searched for. */
  found: boolean
}

/** Splits a line at its colour changes and at the matches of `query` (lower case; empty finds nothing). */
export function segmentsOf(text: string, plain: string, query: string): Segment[] {
  const coloured = text.includes('\x1b') ? paint(text) : [{ text, classes: [], found: false }]
  return query === '' ? coloured : mark(coloured, matchesOf(plain, query))
}

function paint(text: string): Segment[] {
  const parts = Anser.ansiToJson(text, { use_classes: true, remove_empty: true })
  const painted = parts.slice(0, MAX_STRETCHES).map((part) => {
    const foreground = colourOf(part.fg, part.fg_truecolor, 'text')
    const background = colourOf(part.bg, part.bg_truecolor, 'background')
    const isDim = part.decorations.includes('dim')
    const decorations = part.decorations.filter((name) => name !== 'dim')
    return {
      text: part.content,
      classes: decorations.map((name) => `log-${name}`),
      ...((foreground || background || isDim) && { colour: css(readable(foreground, background, isDim)) }),
      ...(background && { background: css(background) }),
      found: false,
    }
  })
  const rest = parts.slice(MAX_STRETCHES).map(({ content }) => content)
  return rest.length === 0 ? painted : [...painted, { text: rest.join(''), classes: [], found: false }]
}

type Stretch = readonly [start: number, end: number]

function matchesOf(plain: string, query: string): Stretch[] {
  const haystack = plain.toLowerCase()
  const found: Stretch[] = []
  let at = haystack.indexOf(query)
  while (at >= 0 && found.length < MAX_STRETCHES) {
    found.push([at, at + query.length])
    at = haystack.indexOf(query, at + query.length)
  }
  return found
}

/** Cuts the segments at the edges of the matches; a match may run over several colours. */
function mark(segments: Segment[], matches: Stretch[]): Segment[] {
  const edges = matches.flat()
  const result: Segment[] = []
  let position = 0
  for (const segment of segments) {
    const end = position + segment.text.length
    const cuts = [position, ...edges.filter((edge) => edge > position && edge < end), end]
    for (let index = 0; index + 1 < cuts.length; index++) {
      const [from, to] = [cuts[index]!, cuts[index + 1]!]
      const found = matches.some(([start, stop]) => start <= from && to <= stop)
      result.push({ ...segment, text: segment.text.slice(from - position, to - position), found })
    }
    position = end
  }
  return result
}
