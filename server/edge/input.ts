import { z } from 'zod'
import { text } from '../schema.ts'
import { sourceFault } from './addresses.ts'
import { captureFault, findCircle, fromFault, toFault } from './redirects.ts'
import { exceptPathFault, headerNameFault, headerValueFault, passwordFault, usernameFault } from './rules.ts'

/** Each request is compared with all of them. */
export const MAX_SOURCES = 1_000
export const MAX_REDIRECTS = 100
export const MAX_HEADERS = 50
const MAX_EXCEPT_PATHS = 50
/** Clients refuse heads that are much longer. */
const MAX_HEADER_CHARACTERS = 16 * 1024
const MAX_HEADER_VALUE_CHARACTERS = 8 * 1024
/** The page is in the route table, which every process of the data plane holds. */
export const MAX_PAGE_BYTES = 64 * 1024
/** Each password takes a fifth of a second to hash. More people should sign in at the program. */
export const MAX_USERS = 20
/** Far beyond any passphrase; bounds the input of the hash, which uses all of it. */
export const MAX_PASSWORD_CHARACTERS = 1_024
/** A day is the longest time for which clients are counted in memory. */
const MAX_PERIOD_SECONDS = 24 * 60 * 60
const MAX_REQUESTS = 1_000_000
const MAX_RETRY_AFTER_SECONDS = 7 * 24 * 60 * 60
/** The most that the server's own `--upstream-timeout` may be for one service. */
const MAX_UPSTREAM_SECONDS = 3_600
const MAX_BODY_MB = 10_240

/** The statuses that a redirect may have. */
const STATUSES = [301, 302, 303, 307, 308] as const

/** A text with a rule of its own, which returns what is wrong with it, or null. */
function judgedText(maximum: number, fault: (value: string) => string | null) {
  return text(maximum)
    .min(1)
    .superRefine((value, context) => {
      const found = fault(value)
      if (found !== null) context.addIssue(found)
    })
}

const Source = judgedText(64, sourceFault)
const PathPattern = judgedText(1_024, fromFault)

const IpAllowList = z
  .array(
    z.strictObject({
      source: Source,
      description: text(200).nullable().default(null),
    }),
  )
  .max(MAX_SOURCES)
  .nullable()
  .meta({
    description: 'Who may use the service, as IP addresses and CIDRs; null is everyone, an empty list nobody',
    examples: [[{ source: '203.0.113.0/24', description: 'office' }]],
  })

const Redirect = z
  .strictObject({
    from: PathPattern,
    to: judgedText(2_048, toFault),
    status: z.literal(STATUSES).default(308),
  })
  .superRefine((redirect, context) => {
    const fault = captureFault(redirect)
    if (fault !== null) context.addIssue({ code: 'custom', path: ['to'], message: fault })
  })

const Redirects = z
  .array(Redirect)
  .max(MAX_REDIRECTS)
  .nullable()
  .transform(nullIfEmpty)
  .superRefine((redirects, context) => {
    const circle = redirects === null ? null : findCircle(redirects)
    if (circle) context.addIssue({ code: 'custom', path: [circle.index, 'to'], message: circle.fault })
  })
  .meta({
    description:
      'Redirects by path, the first that matches: a segment `:name` captures one segment, a final `*` the rest (`:splat`); `to` is a path or an http(s) URL',
    examples: [[{ from: '/blog/*', to: 'https://blog.example.com/:splat', status: 301 }]],
  })

const Maintenance = z
  .strictObject({
    enabled: z.boolean(),
    message: text(2_000).nullable().default(null),
    page: text(MAX_PAGE_BYTES)
      .refine(
        (page) => Buffer.byteLength(page) <= MAX_PAGE_BYTES,
        `must have at most ${MAX_PAGE_BYTES} bytes`,
      )
      .nullable()
      .default(null),
    retry_after_seconds: z.int().min(1).max(MAX_RETRY_AFTER_SECONDS).default(60),
    allow_ips: z.array(Source).max(MAX_SOURCES).default([]),
  })
  .nullable()
  .meta({
    description:
      'While enabled, requests get 503 with the page (HTML) or the message, except those from `allow_ips`; instances run on',
    examples: [
      { enabled: true, message: 'Back at noon', retry_after_seconds: 300, allow_ips: ['203.0.113.7'] },
    ],
  })

const RateLimit = z
  .strictObject({
    requests: z.int().min(1).max(MAX_REQUESTS),
    period_seconds: z.int().min(1).max(MAX_PERIOD_SECONDS).default(60),
    burst: z.int().min(1).max(MAX_REQUESTS).optional(),
  })
  .transform(({ requests, period_seconds, burst = requests }) => ({ requests, period_seconds, burst }))
  .nullable()
  .meta({
    description:
      'Requests of one client address (IPv6: of one /64) in a period; `burst` of them, by default all, may come at once. More get 429',
    examples: [{ requests: 300, period_seconds: 60, burst: 50 }],
  })

export const Username = judgedText(128, usernameFault).meta({ examples: ['ada'] })
export const Password = judgedText(MAX_PASSWORD_CHARACTERS, passwordFault)

const BasicAuthUser = z.strictObject({
  username: Username,
  password: Password.nullable()
    .default(null)
    .meta({ description: 'Null keeps the one that the user has', examples: ['correct horse'] }),
})

/** The users and the paths without a password, around a schema for one user. */
export function basicAuthOf<User extends z.ZodType<{ username: string }>>(user: User) {
  return z
    .strictObject({
      users: z
        .array(user)
        .min(1)
        .max(MAX_USERS)
        .superRefine((users, context) => {
          const names = users.map(({ username }) => username)
          const twice = names.findIndex((name, index) => names.indexOf(name) < index)
          if (twice >= 0)
            context.addIssue({
              code: 'custom',
              path: [twice, 'username'],
              message: `${names[twice]} is given twice`,
            })
        }),
      except_paths: z.array(judgedText(1_024, exceptPathFault)).max(MAX_EXCEPT_PATHS).default([]),
    })
    .nullable()
    .meta({
      description:
        'Users with passwords (HTTP basic authentication), kept as hashes; `except_paths` are patterns of paths without',
      examples: [{ users: [{ username: 'ada', password: 'correct horse' }], except_paths: ['/webhooks/*'] }],
    })
}

const BasicAuth = basicAuthOf(BasicAuthUser)
export type BasicAuthInput = NonNullable<z.output<typeof BasicAuth>>

const Headers = z
  .array(
    z.strictObject({
      path: PathPattern.default('/*'),
      name: judgedText(128, headerNameFault),
      value: judgedText(MAX_HEADER_VALUE_CHARACTERS, headerValueFault).nullable(),
    }),
  )
  .max(MAX_HEADERS)
  .refine(
    (headers) =>
      headers.reduce((sum, { name, value }) => sum + name.length + (value?.length ?? 0), 0) <=
      MAX_HEADER_CHARACTERS,
    `must have at most ${MAX_HEADER_CHARACTERS} characters in all names and values together`,
  )
  .nullable()
  .transform(nullIfEmpty)
  .meta({
    description: 'Headers of its answers by path; null removes one',
    examples: [[{ path: '/*', name: 'X-Frame-Options', value: 'DENY' }]],
  })

/** What a service may ask for its requests. All of it holds at once. */
export const edgeSettings = {
  ip_allow_list: IpAllowList.optional(),
  redirects: Redirects.optional(),
  maintenance: Maintenance.optional(),
  rate_limit: RateLimit.optional(),
  basic_auth: BasicAuth.optional(),
  headers: Headers.optional(),
  session_affinity: z
    .boolean()
    .optional()
    .meta({ description: 'Whether a cookie leads a client to the same instance', examples: [false] }),
  upstream_timeout_seconds: z
    .int()
    .min(1)
    .max(MAX_UPSTREAM_SECONDS)
    .nullable()
    .optional()
    .meta({
      description: "How long an instance may take until its answer begins; null is the server's time",
      examples: [120],
    }),
  max_body_mb: z
    .int()
    .min(1)
    .max(MAX_BODY_MB)
    .nullable()
    .optional()
    .meta({
      description: 'MiB of a request body, above which it gets 413; null is no limit',
      examples: [50],
    }),
  access_log: z
    .boolean()
    .optional()
    .meta({
      description: "Whether each request is a line of the service's log (stream `access`)",
      examples: [false],
    }),
}

/** What an environment has for services that have none of their own. */
export const EdgeDefaultsInput = z
  .strictObject({ basic_auth: edgeSettings.basic_auth, ip_allow_list: edgeSettings.ip_allow_list })
  .meta({ id: 'EdgeDefaultsInput' })
export type EdgeDefaultsInput = z.infer<typeof EdgeDefaultsInput>

function nullIfEmpty<T>(list: T[] | null): T[] | null {
  return list === null || list.length === 0 ? null : list
}
