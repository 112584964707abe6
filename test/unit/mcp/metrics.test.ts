import { expect, test } from 'vitest'
import { Window } from '#mcp/tools/metrics-window.ts'

const FROM = Date.parse('2026-01-02T03:00:00.000Z')
const STEP_MS = 10_000

/** An hour of steps, as the server has them. */
const steps = Array.from({ length: 360 }, (_, index) => ({
  at: new Date(FROM + index * STEP_MS).toISOString(),
  value: index % 6,
}))

test('an hour becomes sixty points: means of two instances together, sums of counts, the highest of times', () => {
  const window = new Window({ from: steps[0]!.at, to: new Date(FROM + 360 * STEP_MS).toISOString() })
  window.add('cpu_percent', steps, ({ value }) => value)
  window.add('cpu_percent', steps, ({ value }) => (value === 0 ? null : value))
  window.addSum('status_5xx', steps, ({ value }) => value)
  window.addMost('p95_ms', steps, () => 7.123)
  const points = window.points()
  expect(points).toHaveLength(60)
  expect(points[1]).toEqual({
    at: '2026-01-02T03:01:00.000Z',
    cpu_percent: 5.5,
    status_5xx: 15,
    p95_ms: 7.12,
  })
})

test('steps after the end of the range count at its end', () => {
  const window = new Window({ from: steps[0]!.at, to: steps[0]!.at })
  window.add('cpu_percent', steps, ({ value }) => (value === 3 ? value : null))
  expect(window.points()).toMatchObject([{ cpu_percent: 3 }])
})
