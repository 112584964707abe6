import { Cron } from 'croner'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Field {
  name: string
  first: number
  last: number
  /** Names that can be used in place of numbers; the first one means `first`. */
  words?: readonly string[]
}

const FIELDS: readonly Field[] = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12, words: MONTHS },
  { name: 'day of week', first: 0, last: 7, words: WEEKDAYS },
]

/** The shorthands that crontab(5) allows in place of five fields. */
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** `*`, `5`, `mon`, `1-5` or `jan-mar`, with an optional step for `*` and ranges. */
const ITEM = /^(?:\*|(\d{1,2}|[A-Za-z]{3})(?:-(\d{1,2}|[A-Za-z]{3}))?)(?:\/(\d{1,2}))?$/
const MAX_CHARACTERS = 256
const FORM =
  'must have five fields as in crontab(5): minute, hour, day of month, month, day of week; or be @hourly, @daily, ' +
  '@weekly, @monthly or @yearly'

/**
 * What is wrong with a schedule, worded to follow the field's name in a message; null for a valid one. Five fields as in
 * crontab(5), in UTC.
 */
export function scheduleFault(schedule: string): string | null {
  if (schedule.length > MAX_CHARACTERS) return FORM
  const fields = fieldsOf(schedule)
  if (fields.length !== FIELDS.length) return FORM
  for (const [at, text] of fields.entries())
    for (const item of text.split(',')) {
      const fault = itemFault(item, FIELDS[at]!)
      if (fault !== null) return fault
    }
  return nextDue(schedule, new Date()) === null ? 'never becomes due: no date matches it' : null
}

/** The first time after `after` at which a valid schedule is due; null when there is none. */
export function nextDue(schedule: string, after: Date): Date | null {
  const fields = fieldsOf(schedule)
  // crontab(5): one of the two day fields is enough to match, but both must match when either begins with an asterisk.
  const domAndDow = fields[2]!.startsWith('*') || fields[4]!.startsWith('*')
  return new Cron(fields.join(' '), { timezone: 'UTC', mode: '5-part', domAndDow }).nextRun(after)
}

function fieldsOf(schedule: string): string[] {
  const text = schedule.trim()
  const nickname = text.toLowerCase()
  return (Object.hasOwn(NICKNAMES, nickname) ? NICKNAMES[nickname]! : text).split(/\s+/)
}

function itemFault(item: string, field: Field): string | null {
  const { name, first, last, words = [] } = field
  const match = ITEM.exec(item)
  if (!match)
    return `has ${JSON.stringify(item)} as the ${name}: use a number, a range such as 1-5, * or a step such as */5`
  const [, from, to, step] = match
  if (step !== undefined && (Number(step) === 0 || (from !== undefined && to === undefined)))
    return `has the step ${item} as the ${name}: a step is at least 1 and needs * or a range`
  const [low, high] = [from, to].map((text) => (text === undefined ? undefined : numberOf(text, field)))
  for (const [text, value] of [
    [from, low],
    [to, high],
  ] as const)
    if (text !== undefined && !(value! >= first && value! <= last))
      return `has ${text} as the ${name}: use ${first} to ${last}${words.length > 0 ? ` or ${words[0]} to ${words.at(-1)}` : ''}`
  return low !== undefined && high !== undefined && low > high
    ? `has the range ${item} as the ${name}, which ends before it begins`
    : null
}

function numberOf(text: string, { first, words = [] }: Field): number {
  const word = words.indexOf(text.toLowerCase())
  return word < 0 ? Number(text) : word + first
}
