import { assert, constantFrom, date, oneof, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { nextDue, scheduleFault } from '#server/jobs/cron.ts'
import { dueText, nextRun } from '../../../dashboard/src/service/schedule.ts'

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
})

test('a moment is written with its zone', () => {
  const moment = new Date('2026-11-22T03:00:00Z')
  expect(dueText(moment, 'UTC')).toBe('Sun, 22 Nov 2026, 03:00 UTC')
  expect(dueText(moment, 'Asia/Tokyo')).toBe('Sun, 22 Nov 2026, 12:00 GMT+9')
})
