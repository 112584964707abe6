import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useLetterScale } from '../ui/letters.ts'
import { gathered, lonely, styleOf, type ChartLine, type ChartMark } from './lines.ts'

export interface Plot {
  lines: readonly ChartLine[]
  marks: readonly ChartMark[]
  at: readonly number[]
  format: (value: number) => string
  /** Whether powers of two are round numbers. */
  isBinary: boolean
  /** The axis reaches at least this far, so that a quiet line looks quiet. */
  least: number
}

/** Sizes at the usual font size; what contains text grows with it. */
const AXIS_PX = 76
const TIMES_PX = 28
/** Minimum distance between two time labels, and between two value labels. */
const TIME_PX = 50
const VALUE_PX = 30
/** Padding on the right: the last time label is centred on the end of its axis. */
const LAST_TIME_PX = 20
const FONT_PX = 12
const FONT = '"Inter Variable", system-ui, sans-serif'
const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power)
const MARK_PX = 5
/** Marks that are closer would cover each other; the first of them shows how many they are. */
const MARKS_APART_PX = 20
const POINT_PX = 5
/** Charts of a page show the same moment. */
const SYNC = 'metrics'

/**
 * Draws a chart into an element in the theme's colours; `onCursor` is called with the step that the pointer is at, or
 * null when it leaves.
 */
export function draw(element: HTMLElement, plot: Plot, onCursor: (index: number | null) => void): UPlot {
  const styles = getComputedStyle(element)
  const colour = (name: string) => styles.getPropertyValue(name).trim()
  const scale = useLetterScale().value
  const axis = {
    stroke: colour('--muted'),
    // uPlot accepts only whole pixels as a size.
    font: `${Math.round(FONT_PX * scale)}px ${FONT}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  const options: UPlot.Options = {
    width: Math.max(1, element.clientWidth),
    height: Math.max(1, element.clientHeight),
    legend: { show: false },
    cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, y: false },
    padding: [8, LAST_TIME_PX * scale, 0, 0],
    scales: { y: { range: (_, __, most) => [0, Math.max(plot.least, (most ?? 0) * 1.1)] } },
    axes: [
      { ...axis, size: TIMES_PX * scale, gap: 9 * scale, space: TIME_PX * scale, values: timesOfDay },
      {
        ...axis,
        size: AXIS_PX * scale,
        space: VALUE_PX * scale,
        values: (_, values) => values.map((value) => plot.format(value)),
        ...(plot.isBinary ? { incrs: BINARY_STEPS } : {}),
      },
    ],
    series: [
      {},
      ...plot.lines.map((line, index) => {
        const style = styleOf(line, index)
        return {
          label: line.name,
          stroke: colour(style.colour),
          dash: style.dash,
          width: 1.75,
          points: {
            show: true,
            size: POINT_PX,
            fill: colour(style.colour),
            filter: (chart: UPlot, series: number) => lonely(chart.data[series] ?? []),
          },
        }
      }),
    ],
    hooks: {
      setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)],
      draw: [(chart) => drawMarks(chart, plot.marks, colour('--text'), axis.font)],
    },
  }
  return new UPlot(options, dataOf(plot), element)
}

/** The data for uPlot. */
export function dataOf({ at, lines }: Pick<Plot, 'at' | 'lines'>): UPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => values)]
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

function timesOfDay(_: UPlot, seconds: number[]): string[] {
  return seconds.map((second) => clock.format(second * 1_000))
}

/**
 * A line from top to bottom with a triangle at its head: a different shape from everything that is measured. For several
 * at one place, their number is next to it.
 */
function drawMarks(chart: UPlot, marks: readonly ChartMark[], colour: string, font: string): void {
  const { ctx, bbox, scales } = chart
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = colour
  ctx.font = font.replace(/^\d+/, (pixels) => String(Number(pixels) * devicePixelRatio))
  ctx.textAlign = 'left'
  ctx.textBaseline = 'top'
  const size = MARK_PX * devicePixelRatio
  const { min = 0, max = 0 } = scales['x']!
  const places = marks
    .filter(({ at }) => at >= min && at <= max)
    .map(({ at }) => Math.round(chart.valToPos(at, 'x', true)))
  for (const { place: x, count } of gathered(places, MARKS_APART_PX * devicePixelRatio)) {
    ctx.beginPath()
    ctx.setLineDash([size / 2, size / 2])
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.beginPath()
    ctx.moveTo(x - size, bbox.top)
    ctx.lineTo(x + size, bbox.top)
    ctx.lineTo(x, bbox.top + size * 1.4)
    ctx.fill()
    if (count > 1) ctx.fillText(String(count), x + size * 1.4, bbox.top)
  }
  ctx.restore()
}
