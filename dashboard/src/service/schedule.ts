const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Within 40 years a 29 February falls on every weekday, even across years like 1900 and 2100. */
const SEARCH_DAYS = 41 * 366

/** When a schedule is due, in UTC. */
export interface Schedule {
  minutes: Set<number>
  hours: Set<number>
  days: Set<number>
  months: Set<number>
  weekdays: Set<number>
  /** Whether a day has to match both fields of days, and not one of them (crontab(5)). */
  bothDays: boolean
}

/**
 * The first minute after `after` at which a schedule of five fields is due, in UTC; null if the text is not a schedule
 * (yet), or is never due.
 */
export function nextRun(text: string, after: Date): Date | null {
  const schedule = parseSchedule(text)
  if (!schedule) return null
  const from = after.getTime() - (after.getTime() % MINUTE_MS) + MINUTE_MS
  const today = from - (from % DAY_MS)
  for (let day = today; day < today + SEARCH_DAYS * DAY_MS; day += DAY_MS) {
    if (!isDay(schedule, new Date(day))) continue
    for (let at = Math.max(day, from); at < day + DAY_MS; at += MINUTE_MS) {
      const date = new Date(at)
      if (schedule.hours.has(date.getUTCHours()) && schedule.minutes.has(date.getUTCMinutes())) return date
    }
  }
  return null
}

/** The next moments at which a schedule is due, the first one first; none if the text is not a schedule (yet). */
export function nextRuns(text: string, after: Date, count: number): Date[] {
  const runs: Date[] = []
  for (let run = nextRun(text, after); run !== null && runs.length < count; run = nextRun(text, run))
    runs.push(run)
  return runs
}

function isDay({ days, months, weekdays, bothDays }: Schedule, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const inMonth = days.has(date.getUTCDate())
  const inWeek = weekdays.has(date.getUTCDay())
  return bothDays ? inMonth && inWeek : inMonth || inWeek
}

/** What crontab(5) takes in the place of five fields. */
const NICKNAMES = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/** Reads the five fields of crontab(5), or a name such as `@daily`; null if the text is neither. */
export function parseSchedule(text: string): Schedule | null {
  const written = text.trim().toLowerCase()
  const fields = (NICKNAMES.get(written) ?? written).split(/\s+/)
  if (fields.length !== 5) return null
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  const minutes = valuesOf(minute, 0, 59)
  const hours = valuesOf(hour, 0, 23)
  const days = valuesOf(day, 1, 31)
  const months = valuesOf(month, 1, 12, MONTHS)
  const weekdays = valuesOf(weekday, 0, 7, WEEKDAYS)
  if (!minutes || !hours || !days || !months || !weekdays) return null
  // Sunday is 0 and 7.
  if (weekdays.has(7)) weekdays.add(0)
  return { minutes, hours, days, months, weekdays, bothDays: day.startsWith('*') || weekday.startsWith('*') }
}

/** The values of a field; null when it is invalid. */
function valuesOf(field: string, first: number, last: number, words: string[] = []): Set<number> | null {
  const values = new Set<number>()
  for (const item of field.split(',')) {
    const [, start, end, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item) ?? []
    if (start === undefined || (start === '*' && end !== undefined)) return null
    // A step needs something to step through.
    if (step !== undefined && start !== '*' && end === undefined) return null
    const low = start === '*' ? first : numberOf(start)
    const high = start === '*' ? last : numberOf(end ?? start)
    const by = Number(step ?? 1)
    if (!(low >= first && high <= last && low <= high && by > 0)) return null
    for (let value = low; value <= high; value += by) values.add(value)
  }
  return values

  function numberOf(text: string): number {
    const word = words.indexOf(text)
    return word === -1 ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : word + (words === MONTHS ? 1 : 0)
  }
}

const PARTS = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const

/** "Sun, 22 Nov 2026, 03:00 UTC", in the given zone or the user's own. */
export function dueText(moment: Date, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', { ...PARTS, ...CLOCK, timeZone }).format(moment)
}
