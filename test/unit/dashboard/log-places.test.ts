import { array, assert, boolean, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { nextTick, ref, shallowRef, triggerRef } from 'vue'
import type { DeployStep } from '../../../dashboard/src/api/types.ts'
import { foldedRows, LogGroups, plainRows, type LogRows } from '../../../dashboard/src/logs/groups.ts'
import { fromLogEvent, type LogLine } from '../../../dashboard/src/logs/line.ts'
import { usePlaces } from '../../../dashboard/src/logs/places.ts'

const TS = '2026-01-01T00:00:00.000Z'
const LINE_PX = 20
const HEADING_PX = 32
const LINES = 40

const STEPS: DeployStep[] = ['a', 'b', 'c'].map((id) => ({
  ...{ started_at: TS, id, name: id, cached: false },
  ...{ duration_ms: 5, status: 'succeeded' },
}))

/** Lines with numbers that ascend from 1, each of a step, or of none. */
function linesOf(steps: readonly string[]): LogLine[] {
  return steps.map((step, index) =>
    fromLogEvent({ ts: TS, stream: 'stdout', line: 'said', ...(step && { step }) }, index + 1),
  )
}

function placesOf(lines: LogLine[], rows: (lines: LogLine[]) => LogRows) {
  const shownLines = shallowRef(lines)
  const shown = shallowRef(rows(lines))
  const pixels = { linePixels: ref(LINE_PX), headingPixels: ref(HEADING_PX) }
  return { lines: shownLines, shown, ...usePlaces({ lines: shownLines, shown, ...pixels }) }
}

type Placed = ReturnType<typeof placesOf>

/** Expects each row to start where those before it end, with these heights of lines by their numbers. */
function expectPlaces(
  { lines, shown, startOf, heightOf, keyOf, total }: Placed,
  heights: Map<number, number>,
) {
  let [end, key] = [0, -1]
  for (let row = 0; row < shown.value.count; row++) {
    const number = lines.value[shown.value.lineAt(row)]?.number
    const height = number === undefined ? HEADING_PX : (heights.get(number) ?? LINE_PX)
    expect([startOf(row), heightOf(row)]).toEqual([end, height])
    expect(keyOf(row)).toBeGreaterThan(key)
    end += height
    key = keyOf(row)
  }
  expect(total.value).toBe(end)
}

function measure({ lines, shown, setHeight }: Placed, heights: Map<number, number>, rows: LogRows): void {
  for (const [number, height] of heights) {
    const row = rows.rowOf(lines.value.findIndex((line) => line.number === number))
    if (shown.value.lineAt(row) >= 0) setHeight(row, height)
  }
}

const heightsOf = (measured: { number: number; height: number }[]) =>
  new Map(measured.map(({ number, height }) => [number, height]))
const measured = array(
  record({ number: integer({ min: 1, max: LINES }), height: integer({ min: 10, max: 90 }) }),
)
const stepsOfLines = array(integer({ min: 0, max: 3 }), { minLength: LINES, maxLength: LINES })

test('headings and lines of steps are below each other; those of a closed step keep their heights', () => {
  const open = array(boolean(), { minLength: 3, maxLength: 3 })
  assert(
    property(stepsOfLines, measured, open, (steps, list, open) => {
      const groups = new LogGroups()
      const lines = linesOf(steps.map((step) => STEPS[step - 1]?.id ?? ''))
      groups.update(lines, STEPS)
      const all = foldedRows(groups, () => true)
      const placed = placesOf(lines, () => all)
      const heights = heightsOf(list)
      measure(placed, heights, all)
      expectPlaces(placed, heights)
      placed.shown.value = foldedRows(groups, ({ id }) => open[STEPS.findIndex((step) => step.id === id)]!)
      expectPlaces(placed, heights)
      placed.shown.value = all
      expectPlaces(placed, heights)
    }),
  )
})

test('lines that come below those of their step do not change which rows are measured', () => {
  const groups = new LogGroups()
  const lines = linesOf(['a', 'b', 'a', 'b'])
  groups.update(lines, STEPS)
  const placed = placesOf(lines, () => foldedRows(groups, () => true))
  const heights = new Map([
    [3, 60],
    [4, 80],
  ])
  measure(placed, heights, placed.shown.value)
  const key = placed.keyOf(placed.shown.value.rowOf(3))
  lines.push(...linesOf(['', '', '', '', 'a', 'b']).slice(4))
  groups.update(lines, STEPS)
  placed.shown.value = foldedRows(groups, () => true)
  triggerRef(placed.lines)
  expectPlaces(placed, heights)
  expect(placed.keyOf(placed.shown.value.rowOf(3))).toBe(key)
})

test('the oldest lines of a followed log are dropped with their heights', async () => {
  const placed = placesOf(linesOf(Array.from({ length: LINES }, () => '')), (lines) =>
    plainRows(lines.length),
  )
  const heights = new Map([
    [2, 60],
    [9, 40],
    [30, 80],
  ])
  measure(placed, heights, placed.shown.value)
  placed.lines.value.splice(0, 5)
  placed.shown.value = plainRows(LINES - 5)
  triggerRef(placed.lines)
  await nextTick()
  expectPlaces(placed, heights)
})

test('another reading of a log has the usual heights', async () => {
  const lines = linesOf(['', '', ''])
  const placed = placesOf(lines, (lines) => plainRows(lines.length))
  measure(placed, new Map([[2, 60]]), placed.shown.value)
  expect(placed.total.value).toBe(100)
  placed.lines.value = [...lines]
  await nextTick()
  expectPlaces(placed, new Map())
})
