import { Cron } from 'croner'

const VALUE = '(?:\\d{1,2}|[A-Za-z]{3})'
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`
/** A field of crontab(5): numbers, names of months and days, lists, ranges and steps; nothing beyond. */
const FIELD = new RegExp(`^${ITEM}(?:,${ITEM})*$`)
const FIELDS = 5
const MAX_CHARACTERS = 256

/** What is wrong with a schedule as the end of a message after its field, or null. Five fields as in crontab(5), in UTC. */
export function scheduleFault(schedule: string): string | null {
  const fields = schedule.trim().split(/\s+/)
  if (
    schedule.length > MAX_CHARACTERS ||
    fields.length !== FIELDS ||
    !fields.every((field) => FIELD.test(field))
  )
    return 'must have five fields as in crontab(5): minute, hour, day of month, month, day of week'
  try {
    return nextDue(schedule, new Date()) === null ? 'names a time that never comes' : null
  } catch (error) {
    return `is no cron schedule: ${(error as Error).message.replace(/^CronPattern: /, '')}`
  }
}

/** The first moment after `after` at which a valid schedule is due; null when none comes. */
export function nextDue(schedule: string, after: Date): Date | null {
  const fields = schedule.trim().split(/\s+/)
  // crontab(5): either day matches, but both must where one of the two fields begins with an asterisk.
  const domAndDow = fields[2]!.startsWith('*') || fields[4]!.startsWith('*')
  return new Cron(fields.join(' '), { timezone: 'UTC', mode: '5-part', domAndDow }).nextRun(after)
}
