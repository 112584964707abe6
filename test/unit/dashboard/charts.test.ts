import { expect, test } from 'vitest'
import { gridOf, kindOf } from '../../../dashboard/src/metrics/grid.ts'
import { gathered, lonely } from '../../../dashboard/src/metrics/lines.ts'

const HOUR = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T01:00:00.000Z', step_seconds: 10 }
const pointsFrom = (at: string) => [{ at: `2026-01-01T${at}.000Z` }, { at: HOUR.to }]

test('a value between gaps is shown as a point, those of a line are not', () => {
  expect(lonely([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(lonely([null, 7, null])).toEqual([1])
  expect(lonely([1, 2, 3])).toEqual([])
  expect(lonely([])).toEqual([])
})

test('the axis begins where the first series does, and not later than the width of a few steps', () => {
  expect(gridOf(HOUR, []).at).toHaveLength(361)
  const grid = gridOf(HOUR, [[], pointsFrom('00:54:00'), pointsFrom('00:58:00')])
  expect(grid.at[0]).toBe(Date.parse('2026-01-01T00:54:00Z') / 1_000)
  expect(grid.at).toHaveLength(37)
  const values = grid.values(pointsFrom('00:54:00'), () => 1)
  expect([values[0], values[1], values.at(-1)]).toEqual([1, null, 1])
  expect(gridOf(HOUR, [pointsFrom('00:59:50')]).at).toHaveLength(12)
  expect(gridOf(HOUR, [pointsFrom('00:00:00')]).at).toHaveLength(361)
})

test('what has not been measured for over a minute has ended', () => {
  const until = (at: string) => kindOf(HOUR, pointsFrom('00:10:00').slice(0, 1).concat({ at }))
  expect(until('2026-01-01T00:58:40.000Z')).toBe('ended')
  expect(until('2026-01-01T00:58:50.000Z')).toBeUndefined()
  // The step that has just begun may have nothing yet.
  expect(kindOf({ ...HOUR, step_seconds: 240 }, [{ at: '2026-01-01T00:56:00.000Z' }])).toBeUndefined()
  expect(kindOf(HOUR, [])).toBeUndefined()
})

test('marks that would cover each other are gathered at the first of them', () => {
  expect(gathered([300, 10, 12, 31, 52], 20)).toEqual([
    { place: 10, count: 2 },
    { place: 31, count: 1 },
    { place: 52, count: 1 },
    { place: 300, count: 1 },
  ])
  expect(gathered([], 20)).toEqual([])
})
