import { z } from 'zod'
import { parseTimestamp, timestamp } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { InEnvironment, LogTail, QueryBoolean } from '../http/query.ts'
import { Timestamp } from '../schema.ts'
import { parseSearch, type Search } from './filter.ts'
import { LOG_LEVELS, type LogLevel } from './level.ts'
import { LOG_STREAMS, LogLine } from './lines.ts'

/** How many recent lines are sent when the request does not say. */
const DEFAULT_TAIL = 100
/** Limit for a search, which is also part of URLs. */
const MAX_SEARCH_CHARACTERS = 500
/** How many services a request may name; without any, it is about all of an environment. */
const MAX_NAMED = 100
const MAX_NAME_CHARACTERS = 200
/** How many bars a histogram has when the request does not say, and at most. */
const DEFAULT_BUCKETS = 60
const MIN_BUCKETS = 2
const MAX_BUCKETS = 300
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

function Stream<const Names extends readonly string[]>(names: Names) {
  return z.enum(names).optional().meta({ description: 'Only lines of this stream; without it, of all' })
}

const Levels = z
  .string()
  .transform((text, context): LogLevel[] => {
    const words = [...new Set(text.split(','))]
    if (words.every((word) => LOG_LEVELS.includes(word as LogLevel))) return words as LogLevel[]
    const message = `must be one or more of ${LOG_LEVELS.join(', ')}, with commas between them`
    context.issues.push({ code: 'custom', input: text, message })
    return z.NEVER
  })
  .optional()
  .meta({
    override: { type: 'string' },
    description: `Only lines of these levels, with commas between them: ${LOG_LEVELS.join(', ')}`,
    examples: ['warn,error'],
  })

const Services = z
  .string()
  .transform((text, context): string[] => {
    const names = [...new Set(text.split(','))]
    const isFit =
      names.length <= MAX_NAMED && names.every((name) => name !== '' && name.length <= MAX_NAME_CHARACTERS)
    if (isFit) return names
    const message = `must be 1 to ${MAX_NAMED} ids or names of services, with commas between them`
    context.issues.push({ code: 'custom', input: text, message })
    return z.NEVER
  })
  .optional()
  .meta({
    override: { type: 'string' },
    description:
      'Ids or names of services, with commas between them; `api.staging` is `api` of the environment `staging`. Without it, all services of `environment`',
    examples: ['web,api'],
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
  stream: Stream(['stdout', 'stderr', 'system']),
})

type Span = Pick<z.output<typeof LogQuery>, 'since' | 'until'>

const isForward = ({ since, until }: Span) => since === undefined || until === undefined || since < until
const FORWARD = { path: ['until'], message: 'must be later than since' }
const canEnd = ({ follow, until }: Span & { follow: boolean }) => !follow || until === undefined
const CAN_END = { path: ['until'], message: 'cannot be followed: leave out until or follow' }

const INSTANCES = {
  stream: Stream(LOG_STREAMS),
  level: Levels,
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
}

/** The query of a service's log. */
export const ServiceLogQuery = LogQuery.extend(INSTANCES).refine(isForward, FORWARD).refine(canEnd, CAN_END)
export type ServiceLogQuery = z.output<typeof ServiceLogQuery>

/** The query of a datastore's log. A datastore has one container and no deploys. */
export const DatastoreLogQuery = LogQuery.refine(isForward, FORWARD).refine(canEnd, CAN_END)

/** The query of the logs of several services. */
export const LogsQuery = LogQuery.extend({ ...INSTANCES, service: Services })
  .refine(isForward, FORWARD)
  .refine(canEnd, CAN_END)
export type LogsQuery = z.output<typeof LogsQuery>

/** The query of a histogram of these logs. */
export const LogHistogramQuery = LogQuery.omit({ follow: true, tail: true })
  .extend({
    ...INSTANCES,
    service: Services,
    buckets: z
      .string()
      .regex(/^\d{1,9}$/, 'must be a whole number')
      .optional()
      .transform((text) =>
        text === undefined ? DEFAULT_BUCKETS : Math.min(MAX_BUCKETS, Math.max(MIN_BUCKETS, Number(text))),
      )
      .meta({
        description: `How many buckets there are at most; clamped to ${MIN_BUCKETS}..${MAX_BUCKETS}`,
        override: { type: 'integer', default: DEFAULT_BUCKETS },
      }),
  })
  .refine(isForward, FORWARD)
export type LogHistogramQuery = z.output<typeof LogHistogramQuery>

/** A line among those of several services. A remark of the server about the reading itself has none of these fields. */
export const ServiceLogLine = LogLine.extend({
  service_id: z.string().optional(),
  service: z.string().optional(),
  deploy_id: z.string().optional(),
  level: z.enum(LOG_LEVELS).optional(),
}).meta({ id: 'ServiceLogLine' })
export type ServiceLogLine = z.infer<typeof ServiceLogLine>

const Count = z.int().meta({ examples: [12] })

/** How many lines there are over a time, by level. */
export const LogHistogram = z
  .object({
    from: Timestamp.meta({ description: 'When the first bucket begins' }),
    until: Timestamp.meta({ description: 'When the last bucket ends' }),
    step_seconds: z.int().meta({ examples: [60] }),
    complete: z.boolean().meta({ description: 'Whether there was time to count all lines' }),
    counted_from: Timestamp.meta({ description: 'From this time on all lines are counted' }),
    buckets: z.array(
      z
        .object({ at: Timestamp, debug: Count, info: Count, warn: Count, error: Count })
        .meta({ id: 'LogBucket' }),
    ),
  })
  .meta({ id: 'LogHistogram' })
export type LogHistogram = z.infer<typeof LogHistogram>

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
