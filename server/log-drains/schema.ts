import { z } from 'zod'
import { secret } from '../access/shown.ts'
import {
  destinationAnswer,
  destinationInput,
  destinationPatch,
  destinationUrl,
} from '../destinations/schema.ts'
import { placeFault, DESTINATIONS } from '../network/judged.ts'
import { urlFault } from '../network/outgoing.ts'
import { idSchema, Timestamp } from '../schema.ts'

const DRAIN_KINDS = ['syslog', 'http', 'loki', 'otlp'] as const
export type DrainKind = (typeof DRAIN_KINDS)[number]

/** The characters that a header can contain. */
const Token = z
  .string()
  .regex(/^[!-~]{1,4096}$/, 'must be 1 to 4096 visible ASCII characters')
  .nullable()
  .meta({ description: 'Sent as `Authorization: Bearer`; not for syslog. Never shown', examples: [null] })

/** What is wrong with a URL for every kind of drain. A change may not name the kind. */
function anyUrlFault(text: string): string | null {
  const scheme = /^(?:(https?)|tcp|tls):/i.exec(text)
  if (!scheme) return 'must be an http or https URL, or tcp://host:port or tls://host:port for syslog'
  return drainUrlFault(scheme[1] === undefined ? 'syslog' : 'http', text)
}

const Audit = z.boolean().meta({
  description:
    'Whether the events of the audit log are sent, too: all of them, whatever `environment` and `services` say',
  examples: [false],
})

const Url = destinationUrl(anyUrlFault).meta({
  description: '`tcp://` or `tls://host:port` for syslog, otherwise http or https',
  examples: ['https://logs.example.com'],
})

export const LogDrainInput = z
  .strictObject({
    kind: z.enum(DRAIN_KINDS).meta({ examples: ['loki'] }),
    ...destinationInput,
    url: Url,
    token: Token.optional(),
    audit: Audit.optional(),
  })
  .meta({
    id: 'LogDrainInput',
    examples: [{ name: 'Log archive', kind: 'loki', url: 'https://logs.example.com' }],
  })
export type LogDrainInput = z.infer<typeof LogDrainInput>

export const LogDrainPatch = z
  .strictObject({
    ...destinationPatch,
    url: Url.optional(),
    token: Token.optional(),
    audit: Audit.optional(),
  })
  .meta({ id: 'LogDrainPatch', examples: [{ enabled: false }] })
export type LogDrainPatch = z.infer<typeof LogDrainPatch>

export const LogDrain = z
  .object({
    id: idSchema('logDrain'),
    ...destinationAnswer,
    kind: z.enum(DRAIN_KINDS).meta({ examples: ['loki'] }),
    url: secret(z.string()).meta({
      description: 'Its host; of the rest, at most the end is shown',
      examples: ['https://logs.example.com'],
    }),
    token_hint: secret(z.string()).meta({ description: 'The end of the token', examples: [null] }),
    audit: Audit,
    sent: z.int().meta({ description: 'Lines that the destination has accepted', examples: [12_345] }),
    dropped: z.int().meta({
      description: 'Lines that it will never get: removed before they were sent, or refused by it',
      examples: [0],
    }),
    last_error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    last_sent_at: Timestamp.nullable(),
  })
  .meta({
    id: 'LogDrain',
    description: 'Where the output of services is forwarded to, and the audit log when asked',
  })
export type LogDrain = z.infer<typeof LogDrain>

export const LogDrainDelivery = z
  .object({
    status: z.enum(['delivered', 'failed', 'dropped']).meta({
      description: 'Whether the lines were accepted, will be sent again, or were given up',
      examples: ['delivered'],
    }),
    lines: z.int().meta({ description: '0 for a failure: its lines will be sent again', examples: [1_200] }),
    attempts: z.int().meta({ examples: [12] }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    began_at: Timestamp,
    ended_at: Timestamp,
  })
  .meta({ id: 'LogDrainDelivery', description: 'Consecutive attempts with the same result' })
export type LogDrainDelivery = z.infer<typeof LogDrainDelivery>

/** The path parameter of one log drain. */
export const LogDrainPath = z.strictObject({
  id: z.string().meta({ description: 'Id of the log drain', examples: ['drn-4f1d0c9a7b3e5d2f6a80'] }),
})

/** What is wrong with the URL of a drain of this kind; null when nothing is. */
export function drainUrlFault(kind: DrainKind, text: string): string | null {
  return kind === 'syslog' ? syslogFault(text) : urlFault(text)
}

function syslogFault(text: string): string | null {
  const url = URL.parse(text)
  const isDestination =
    url &&
    ['tcp:', 'tls:'].includes(url.protocol) &&
    Number(url.port) > 0 &&
    url.hostname !== '' &&
    ['', '/'].includes(url.pathname) &&
    url.username + url.password + url.search + url.hash === ''
  return isDestination
    ? placeFault(url.hostname, Number(url.port), DESTINATIONS)
    : 'must be tcp://host:port or tls://host:port'
}
