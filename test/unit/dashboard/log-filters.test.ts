import { expect, test } from 'vitest'
import { fixedFilters, type LogFilters } from '../../../dashboard/src/logs/filters.ts'

const NONE: LogFilters = {
  ...{ search: '', since: '', until: '', deploy: '', instance: '', stream: '', level: '', service: '' },
  environment: '',
}
const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()

test('a link to what is shown goes from the first line to the last one, even if the clock here is behind', () => {
  const lines = [{ ts: inMs(-60_000) }, { ts: inMs(4_000) }, { ts: inMs(3_000) }]
  const { since, until } = fixedFilters({ ...NONE, level: 'error' }, lines)
  expect(since).toBe(lines[0]!.ts)
  expect(until! > lines[1]!.ts).toBe(true)
  expect(until! < inMs(5_000)).toBe(true)
})

test('a link keeps the times that were chosen, and fixes those that move', () => {
  const chosen = { since: '2026-01-01T00:00:00.000Z', until: '2026-01-01T01:00:00.000Z' }
  expect(fixedFilters({ ...NONE, ...chosen }, [{ ts: '2026-01-01T00:30:00.000Z' }])).toEqual(chosen)
  const { since } = fixedFilters({ ...NONE, since: '1h' }, [])
  expect(Math.abs(Date.parse(since!) - Date.parse(inMs(-3_600_000)))).toBeLessThan(1_000)
})
