import { expect, test } from 'vitest'
import { duration, relativeTime } from '../../../dashboard/src/ui/time.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const HOUR = 3_600_000
const ago = (milliseconds: number) => relativeTime(new Date(NOW - milliseconds).toISOString(), NOW)

test('how long ago something was is shown in figures', () => {
  expect(ago(20_000)).toBe('just now')
  expect(ago(3 * 60_000)).toBe('3 min. ago')
  // Two days ago by the calendar.
  expect(ago(47 * HOUR)).toBe('1 day ago')
  expect(ago(45 * 24 * HOUR)).toBe('45 days ago')
  expect(ago(150 * 24 * HOUR)).toBe('4 mo. ago')
  expect(ago(-89.9 * 24 * HOUR)).toBe('in 89 days')
})

test('a duration has its two largest units', () => {
  expect([850, 12_300, 245_000, 3_720_000].map(duration)).toEqual([
    '850 ms',
    '12 s',
    '4 min 5 s',
    '1 h 2 min',
  ])
})
