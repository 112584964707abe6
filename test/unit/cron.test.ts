import { array, assert, constantFrom, integer, oneof, property, tuple, type Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextDue, scheduleFault } from '../../server/jobs/cron.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** The slow reference checks whole days first, so this far is cheap. */
const HORIZON_DAYS = 366 * 9

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Whether a field of crontab(5) names a value, read as the manual page says. */
function names(field: string, value: number, first: number, last: number, words: string[] = []): boolean {
  const numberOf = (text: string) => {
    const word = words.indexOf(text.toLowerCase())
    return word === -1 ? Number(text) : word + (words === MONTHS ? 1 : 0)
  }
  return field.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [from = '', to = from] = range === '*' ? [String(first), String(last)] : range.split('-')
    const low = numberOf(from)
    return value >= low && value <= numberOf(to) && (value - low) % Number(step) === 0
  })
}

function isDay(schedule: string, day: Date): boolean {
  const [, , dayOfMonth = '', month = '', weekday = ''] = schedule.split(' ')
  if (!names(month, day.getUTCMonth() + 1, 1, 12, MONTHS)) return false
  const inMonth = names(dayOfMonth, day.getUTCDate(), 1, 31)
  const today = day.getUTCDay()
  const inWeek = names(weekday, today, 0, 7, WEEKDAYS) || (today === 0 && names(weekday, 7, 0, 7, WEEKDAYS))
  return dayOfMonth.startsWith('*') || weekday.startsWith('*') ? inMonth && inWeek : inMonth || inWeek
}

/** The next due minute, found by checking every one. */
function slowly(schedule: string, after: Date): Date | null {
  const [minute = '', hour = ''] = schedule.split(' ')
  const today = Math.floor(after.getTime() / DAY_MS) * DAY_MS
  for (let day = today; day < today + HORIZON_DAYS * DAY_MS; day += DAY_MS) {
    if (!isDay(schedule, new Date(day))) continue
    for (let at = day; at < day + DAY_MS; at += MINUTE_MS) {
      const date = new Date(at)
      if (at <= after.getTime()) continue
      if (names(hour, date.getUTCHours(), 0, 23) && names(minute, date.getUTCMinutes(), 0, 59)) return date
    }
  }
  return null
}

/** A field: an asterisk, numbers, ranges and steps in lists. */
function field(first: number, last: number): Arbitrary<string> {
  const number = integer({ min: first, max: last }).map(String)
  const range = tuple(integer({ min: first, max: last }), integer({ min: first, max: last })).map(
    ([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`,
  )
  const step = integer({ min: 1, max: Math.min(last, 12) })
  const item = oneof(
    number,
    range,
    tuple(oneof(range, constantFrom('*')), step).map(([base, by]) => `${base}/${by}`),
  )
  return oneof(
    constantFrom('*'),
    array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
  )
}

const schedules = tuple(
  field(0, 59),
  field(0, 23),
  field(1, 31),
  oneof(field(1, 12), constantFrom('feb', 'jan-mar', 'JUN,dec', 'Feb')),
  oneof(field(0, 7), constantFrom('sun', 'MON-FRI', '7', 'sat,sun', '5-7')),
).map((fields) => fields.join(' '))

const moments = integer({
  min: Date.parse('2024-01-01T00:00:00Z'),
  max: Date.parse('2031-01-01T00:00:00Z'),
}).map((milliseconds) => new Date(milliseconds))

describe('a schedule', () => {
  test('is due at the next minute that every field names, as crontab(5) says', () => {
    assert(
      property(schedules, moments, (schedule, after) => {
        expect(nextDue(schedule, after)?.toISOString()).toBe(slowly(schedule, after)?.toISOString())
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['*/7 * * * *', '2026-01-01T00:56:00Z', '2026-01-01T01:00:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00Z'],
    ['0 0 31 * *', '2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z'],
    ['59 23 31 12 *', '2026-12-31T23:59:00Z', '2027-12-31T23:59:00Z'],
    ['0 0 * * 0', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
    ['0 0 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
    // Either day is enough ...
    ['0 0 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    // ... but both must match where one of them begins with an asterisk.
    ['0 0 */2 * 1', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00Z'],
    ['0 0 1 * */2', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['30 2 * * *', '2026-03-29T00:00:00Z', '2026-03-29T02:30:00Z'],
    ['  0   3 * * *  ', '2026-01-01T03:00:00Z', '2026-01-02T03:00:00Z'],
    ['@hourly', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'],
    ['@Daily', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
    ['@monthly', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['@yearly', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ])('%s after %s is due at %s', (schedule, after, due) => {
    expect(nextDue(schedule, new Date(after))).toEqual(new Date(due))
  })

  test.each(['* * * * *', '0 3 * * *', '*/15 9-17 * * mon-fri', '0 0 1,15 JAN-JUN *', '0 0 * * 5-7'])(
    '%s is accepted',
    (schedule) => {
      expect(scheduleFault(schedule)).toBeNull()
    },
  )

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '@reboot',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    '5/15 * * * *',
    'L * * * *',
    '* * L * *',
    '* * * * 5#2',
    '? * * * *',
    '* * * foo *',
    '* * 1,jan * *',
    '1.5 * * * *',
    '-1 * * * *',
    `${'1,'.repeat(200)}1 * * * *`,
  ])('%s is refused', (schedule) => {
    expect(scheduleFault(schedule)).toMatch(/^(must|has)/)
  })

  test.each([
    ['75 * * * *', 'has 75 as the minute: use 0 to 59'],
    ['* * * 13 *', 'has 13 as the month: use 1 to 12 or jan to dec'],
    ['* * * * 1-9', 'has 9 as the day of week: use 0 to 7 or sun to sat'],
    ['* 17-9 * * *', 'has the range 17-9 as the hour, which ends before it begins'],
    ['5/15 * * * *', 'has the step 5/15 as the minute: a step is at least 1 and needs * or a range'],
  ])('%s is refused, naming what was given: %s', (schedule, fault) => {
    expect(scheduleFault(schedule)).toBe(fault)
  })

  test.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *'])(
    '%s is refused, since it never comes',
    (schedule) => {
      expect(scheduleFault(schedule)).toBe('never becomes due: no date matches it')
    },
  )
})
