import { assert, constantFrom, date, oneof, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { nextDue, scheduleFault } from '#server/jobs/cron.ts'
import { scheduleWords, timeHere } from '../../../dashboard/src/service/schedule-words.ts'
import { dueText, nextRun, nextRuns } from '../../../dashboard/src/service/schedule.ts'

const schedules = tuple(
  constantFrom('*', '0', '59', '*/15', '7-40/11', '3,30-32'),
  constantFrom('*', '0', '23', '*/5', '8-18', '1,2,22'),
  constantFrom('*', '1', '31', '*/7', '29', '10-20', '5,28-30'),
  constantFrom('*', '2', 'feb', '*/3', 'MAR-may', '1,12', '4'),
  constantFrom('*', '0', '7', '*/2', 'mon', 'Mon-Fri', '5-7', 'SAT,SUN'),
).map((fields) => fields.join(' '))
const nicknames = constantFrom(
  '@hourly',
  '@Daily',
  '@midnight',
  '@weekly',
  '@monthly',
  '@yearly',
  '@annually',
)

test('the next run shown is the one for which the server waits', () => {
  assert(
    property(
      oneof({ weight: 9, arbitrary: schedules }, nicknames).filter(
        (schedule) => scheduleFault(schedule) === null,
      ),
      date({ min: new Date('2024-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      (schedule, after) => {
        expect(nextRun(schedule, after)).toEqual(nextDue(schedule, after))
        const [first, second] = nextRuns(schedule, after, 2)
        expect(second ?? null).toEqual(first === undefined ? null : nextDue(schedule, first))
        expect(scheduleWords(schedule)).toMatch(/^(?:Every|On) /)
      },
    ),
    { numRuns: 500 },
  )
})

test.for([
  '',
  '0 3 * *',
  '0 3 * * * *',
  '60 3 * * *',
  '0 3 0 * *',
  '0 3 * jan-x *',
  '9-3 * * * *',
  '*/0 * * * *',
  '0 0 31 2 *',
  '@reboot',
])('no next run is shown for %j', (schedule) => {
  expect(nextRun(schedule, new Date('2026-01-02'))).toBeNull()
  expect(nextRuns(schedule, new Date('2026-01-02'), 5)).toEqual([])
})

test('a moment is written with its zone', () => {
  const moment = new Date('2026-11-22T03:00:00Z')
  expect(dueText(moment, 'UTC')).toBe('Sun, 22 Nov 2026, 03:00 UTC')
  expect(dueText(moment, 'Asia/Tokyo')).toBe('Sun, 22 Nov 2026, 12:00 GMT+9')
})

test.for([
  ['17 3 * * *', 'Every day at 03:17 UTC'],
  ['@daily', 'Every day at 00:00 UTC'],
  ['0 */6 * * *', 'Every day at 00:00, 06:00, 12:00 and 18:00 UTC'],
  ['* * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['*/25 * * * *', 'Every hour at the minutes 0, 25 and 50'],
  ['0 * * * *', 'Every hour, on the hour'],
  ['5 * * * *', 'Every hour at minute 5'],
  ['* 8 * * *', 'Every minute from 08:00 to 08:59 UTC'],
  ['*/10 1,2,22 * * *', 'Every 10 minutes in the hours that begin at 01:00, 02:00 and 22:00 UTC'],
  ['0,30 9-17 * * mon-fri', 'Every day from Monday to Friday, every 30 minutes from 09:00 to 17:59, in UTC'],
  ['0 3 * * 1,3', 'Every Monday and Wednesday at 03:00 UTC'],
  ['15 3 * * 6,0', 'Every Saturday and Sunday at 03:15 UTC'],
  ['0 0 * * 5-7', 'Every day from Friday to Sunday at 00:00 UTC'],
  ['0 0 1,15 * *', 'On the 1st and 15th of every month at 00:00 UTC'],
  ['0 0 2-4 * *', 'On the 2nd to 4th of every month at 00:00 UTC'],
  ['0 0 31 * *', 'On the 31st of every month that has one at 00:00 UTC'],
  ['0 0 1 1 *', 'On the 1st of January at 00:00 UTC'],
  ['30 4 * 6-8 *', 'Every day in June, July and August at 04:30 UTC'],
  ['0 9 * 1 1', 'Every Monday in January at 09:00 UTC'],
  // Of two restricted fields of days either is enough, and one that begins with * asks for both.
  ['0 12 1 * 1', 'On the 1st of every month, and every Monday, at 12:00 UTC'],
  ['0 9 1-31 * 1', 'Every day at 09:00 UTC'],
  ['0 12 */15 6 mon', 'Every Monday that is the 1st, 16th or 31st of June at 12:00 UTC'],
] as const)('%s is: %s', ([schedule, words]) => {
  expect(scheduleWords(schedule)).toBe(words)
})

test.for([
  ['17 3 * * *', 'Europe/Berlin', '2026-11-22T03:17:00Z', '04:17 here'],
  ['17 3 * * *', 'America/Lima', '2026-11-22T03:17:00Z', '22:17 here, the day before'],
  ['0 20 * * 1', 'Asia/Tokyo', '2026-11-23T20:00:00Z', '05:00 here, the day after'],
  ['17 3 * * *', 'UTC', '2026-11-22T03:17:00Z', null],
  ['0 3,15 * * *', 'Europe/Berlin', '2026-11-22T03:00:00Z', null],
] as const)('%s in %s, at %s, is %s', ([schedule, zone, next, here]) => {
  expect(timeHere(schedule, new Date(next), zone)).toBe(here)
})
