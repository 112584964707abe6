import { parseSchedule, type Schedule } from './schedule.ts'

/** From 1, as in a schedule; there, Sunday is 0 and 7. */
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
/** More times of the day than these are described, not listed. */
const MAX_TIMES = 6
const MINUTES = 60
const HOURS = 24
/** Not every month has a later day. */
const SHORTEST_MONTH = 28

/**
 * A schedule of five fields as a sentence without a full stop: "Every day at 03:17 UTC", "Every Monday at 00:00 and 12:00
 * UTC", "Every 15 minutes". Null if the text is not a schedule (yet).
 */
export function scheduleWords(text: string): string | null {
  const schedule = parseSchedule(text)
  if (!schedule) return null
  const days = daysOf(schedule)
  const { isList, words } = timesOf(schedule)
  if (isList) return `${days ?? 'Every day'} ${words} UTC`
  if (days === null)
    return `${words[0]!.toUpperCase()}${words.slice(1)}${/\d\d:\d\d/.test(words) ? ' UTC' : ''}`
  return `${days.replace(/,$/, '')}, ${words}, in UTC`
}

/**
 * What "at 03:17 UTC" means on a clock in the given zone or the user's own, for a schedule that is due at one time of the
 * day: "04:17 here", "23:17 here, the day before". Null for another schedule, and if it is the same.
 */
export function timeHere(text: string, next: Date, timeZone?: string): string | null {
  const schedule = parseSchedule(text)
  if (schedule?.minutes.size !== 1 || schedule.hours.size !== 1) return null
  const [there, here] = [dayAndTime(next, 'UTC'), dayAndTime(next, timeZone)]
  if (there.day === here.day) return there.time === here.time ? null : `${here.time} here`
  return `${here.time} here, the day ${here.day < there.day ? 'before' : 'after'}`
}

/** Days as texts in the order of time. */
function dayAndTime(moment: Date, timeZone?: string): { day: string; time: string } {
  // Swedish dates are those of ISO 8601.
  const [day, time] = moment.toLocaleString('sv-SE', { timeZone }).split(' ') as [string, string]
  return { day, time: time.slice(0, 'hh:mm'.length) }
}

/** On which days; null for every day. */
function daysOf({ days, months, weekdays: seven, bothDays }: Schedule): string | null {
  const weekdays = [...new Set([...seven].map((day) => (day === 0 ? WEEKDAYS.length : day)))].toSorted(
    byNumber,
  )
  const inMonth = [...days].toSorted(byNumber)
  const isAnyDay = inMonth.length === 31
  const isAnyWeekday = weekdays.length === WEEKDAYS.length
  const month =
    months.size === MONTHS.length ? null : listOf([...months].toSorted(byNumber).map((at) => MONTHS[at - 1]!))
  const within = month === null ? '' : ` in ${month}`
  // With two restricted fields, either is enough, so that a field with all values means every day.
  if (bothDays ? isAnyDay && isAnyWeekday : isAnyDay || isAnyWeekday)
    return month === null ? null : `Every day${within}`
  const dates = ordinals(inMonth)
  const ofMonth = month === null ? 'of every month' : `of ${month}`
  if (isAnyDay) return `Every ${weekdayList(weekdays)}${within}`
  const isRare = month === null && inMonth[0]! > SHORTEST_MONTH
  if (isAnyWeekday) return `On the ${dates} ${ofMonth}${isRare ? ' that has one' : ''}`
  return bothDays
    ? `Every ${weekdayList(weekdays)} that is the ${ordinals(inMonth, 'or')} of ${month ?? 'a month'}`
    : `On the ${dates} ${ofMonth}, and every ${weekdayList(weekdays)}${within},`
}

function weekdayList(weekdays: number[]): string {
  const [first, last] = [weekdays[0]!, weekdays.at(-1)!]
  return weekdays.length > 2 && last - first === weekdays.length - 1
    ? `day from ${WEEKDAYS[first - 1]!} to ${WEEKDAYS[last - 1]!}`
    : listOf(weekdays.map((day) => WEEKDAYS[day - 1]!))
}

/** At which times of such a day: as a list of them, or described. */
function timesOf({ minutes, hours }: Schedule): { isList: boolean; words: string } {
  const [everyMinute, everyHour] = [[...minutes].toSorted(byNumber), [...hours].toSorted(byNumber)]
  const isAnyHour = everyHour.length === HOURS
  if (!isAnyHour && everyMinute.length * everyHour.length <= MAX_TIMES) {
    const times = everyHour.flatMap((hour) => everyMinute.map((minute) => clock(hour, minute)))
    return { isList: true, words: `at ${listOf(times)}` }
  }
  const often = minuteWords(everyMinute)
  if (isAnyHour) return { isList: false, words: often }
  const [first, last] = [everyHour[0]!, everyHour.at(-1)!]
  const when =
    last - first === everyHour.length - 1
      ? `from ${clock(first, 0)} to ${clock(last, MINUTES - 1)}`
      : `in the hours that begin at ${listOf(everyHour.map((hour) => clock(hour, 0)))}`
  return { isList: false, words: `${often} ${when}` }
}

function minuteWords(minutes: number[]): string {
  const step = MINUTES / minutes.length
  if (step === 1) return 'every minute'
  if (minutes.length === 1)
    return minutes[0] === 0 ? 'every hour, on the hour' : `every hour at minute ${minutes[0]!}`
  if (minutes.every((minute, at) => minute === at * step)) return `every ${step} minutes`
  return `every hour at the minutes ${listOf(minutes.map(String))}`
}

function ordinals(days: number[], conjunction?: string): string {
  const [first, last] = [days[0]!, days.at(-1)!]
  return days.length > 2 && last - first === days.length - 1
    ? `${ordinal(first)} to ${ordinal(last)}`
    : listOf(days.map(ordinal), conjunction)
}

const rules = new Intl.PluralRules('en', { type: 'ordinal' })
const SUFFIXES: Record<string, string> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }

function ordinal(day: number): string {
  return `${day}${SUFFIXES[rules.select(day)]!}`
}

function listOf(words: string[], conjunction = 'and'): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)!}`
}

function clock(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

function byNumber(left: number, right: number): number {
  return left - right
}
