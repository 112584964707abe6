import { z } from 'zod'
import { parseTimestamp, timestamp } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { InEnvironment, LogTail, QueryBoolean } from '../http/query.ts'
import { parseSearch, type Search } from './filter.ts'

/** How many recent lines are sent when the request does not say. */
const DEFAULT_TAIL = 100
/** Limit for a search, which is also part of URLs. */
const MAX_SEARCH_CHARACTERS = 500
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time: a timestamp, or how long ago. */
const Moment = z
  .string()
  .transform((text, context) => {
    const moment = momentOf(text)
    if (moment !== null) return moment
    context.issues.push({
      code: 'custom',
      input: text,
      message: 'must be a time such as 2026-01-02T03:04:05Z, or how long ago, such as 15m, 2h or 3d',
    })
    return z.NEVER
  })
  .optional()
  .meta({
    override: { type: 'string' },
    description: 'A timestamp, or how long ago',
    examples: ['15m'],
  })

const LogQuery = z.strictObject({
  ...InEnvironment.shape,
  follow: QueryBoolean,
  tail: LogTail(DEFAULT_TAIL),
  since: Moment,
  until: Moment,
  search: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_SEARCH_CHARACTERS, `must have at most ${MAX_SEARCH_CHARACTERS} characters`)
    .transform(searchIn)
    .optional()
    .meta({ description: 'A text in any case, or an RE2 expression between slashes', examples: ['timeout'] }),
  stream: z
    .enum(['stdout', 'stderr', 'system'])
    .optional()
    .meta({ description: 'Only lines of this stream' }),
})

type Span = Pick<z.output<typeof LogQuery>, 'since' | 'until' | 'follow'>

const isForward = ({ since, until }: Span) => since === undefined || until === undefined || since < until
const FORWARD = { path: ['until'], message: 'must be later than since' }
const canEnd = ({ follow, until }: Span) => !follow || until === undefined
const CAN_END = { path: ['until'], message: 'cannot be followed: leave out until or follow' }

/** The query of a service's log. */
export const ServiceLogQuery = LogQuery.extend({
  instance: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'The name of an instance', examples: ['srv-4f1d0c9a7b3e5d2f6a80-2d100'] }),
  deploy: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'The id of a deploy', examples: ['dep-4f1d0c9a7b3e5d2f6a80'] }),
})
  .refine(isForward, FORWARD)
  .refine(canEnd, CAN_END)
export type ServiceLogQuery = z.output<typeof ServiceLogQuery>

/** The query of a datastore's log. A datastore has one container and no deploys. */
export const DatastoreLogQuery = LogQuery.refine(isForward, FORWARD).refine(canEnd, CAN_END)

function searchIn(text: string, context: z.core.$RefinementCtx<string>): Search {
  try {
    return parseSearch(text)
  } catch (error) {
    context.issues.push({ code: 'custom', input: text, message: messageOf(error) })
    return z.NEVER
  }
}

/** Converts a time to the timestamp format of log lines; null when it is not a time. */
function momentOf(text: string): string | null {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count === undefined) return timestamp(parseTimestamp(text))
  return timestamp(Math.max(0, Date.now() - Number(count) * UNIT_MS[unit]!))
}
