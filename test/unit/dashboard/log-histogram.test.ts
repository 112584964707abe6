import { expect, test } from 'vitest'
import type { LogHistogram } from '#server/logs/schema.ts'
import { barsOf, timeBetween, totalsOf } from '../../../dashboard/src/logs/histogram.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const NONE = { debug: 0, info: 0, warn: 0, error: 0 }
const HISTOGRAM: LogHistogram = {
  ...{ from: at(0), until: at(4), step_seconds: 60, complete: true, counted_from: at(0) },
  buckets: [
    { at: at(0), ...NONE, info: 10 },
    { at: at(1), ...NONE },
    { at: at(2), ...NONE, info: 4, error: 1 },
    { at: at(3), ...NONE, warn: 1, debug: 1 },
  ],
}

test('the highest bar fills the chart, and errors stand at the bottom', () => {
  const bars = barsOf(HISTOGRAM)
  expect(bars.map(({ count }) => count)).toEqual([10, 0, 5, 2])
  expect(bars[0]!.stretches).toEqual([{ level: 'info', y: 0, height: 100 }])
  expect(bars[1]!.stretches).toEqual([])
  expect(bars[2]!.stretches).toEqual([
    { level: 'error', y: 90, height: 10 },
    { level: 'info', y: 50, height: 40 },
  ])
})

test('one error among a million lines is visible', () => {
  const [bar] = barsOf({ ...HISTOGRAM, buckets: [{ at: at(0), ...NONE, info: 1_000_000, error: 1 }] })
  expect(bar!.stretches[0]).toEqual({ level: 'error', y: 98, height: 2 })
  expect(bar!.stretches[1]!.y).toBeGreaterThanOrEqual(0)
})

test('lines are summed by level', () => {
  expect(totalsOf(HISTOGRAM)).toEqual({ debug: 1, info: 14, warn: 1, error: 1 })
})

test('a drag in either direction, and a click, choose whole buckets', () => {
  expect(timeBetween(HISTOGRAM, 0.3, 0.6)).toEqual({ since: at(1), until: at(3) })
  expect(timeBetween(HISTOGRAM, 0.6, 0.3)).toEqual({ since: at(1), until: at(3) })
  expect(timeBetween(HISTOGRAM, 0.55, 0.55)).toEqual({ since: at(2), until: at(3) })
  expect(timeBetween(HISTOGRAM, -1, 2)).toEqual({ since: at(0), until: at(4) })
  expect(timeBetween(HISTOGRAM, 1, 1)).toEqual({ since: at(3), until: at(4) })
})
