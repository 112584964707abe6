import { z } from 'zod'
import { EnvironmentFilter, ServicesFilter, TargetName, TargetUrl } from '../notifications/schema.ts'
import { idSchema, Timestamp } from '../schema.ts'

export const DRAIN_KINDS = ['syslog', 'http', 'loki', 'otlp'] as const
export type DrainKind = (typeof DRAIN_KINDS)[number]

/** What a header can hold. */
const Token = z
  .string()
  .regex(/^[!-~]{1,4096}$/, 'must be 1 to 4096 visible ASCII characters')
  .nullable()
  .meta({ description: 'Sent as `Authorization: Bearer`; not for syslog. Never shown', examples: [null] })

const fields = {
  name: TargetName.meta({ examples: ['Log archive'] }),
  url: TargetUrl.meta({
    description: '`tcp://` or `tls://host:port` for syslog, else http or https',
    examples: ['https://logs.example.com'],
  }),
  token: Token.optional(),
  environment: EnvironmentFilter.optional(),
  services: ServicesFilter.optional(),
}

export const LogDrainInput = z
  .strictObject({ kind: z.enum(DRAIN_KINDS).meta({ examples: ['loki'] }), ...fields })
  .meta({
    id: 'LogDrainInput',
    examples: [{ name: 'Log archive', kind: 'loki', url: 'https://logs.example.com' }],
  })
export type LogDrainInput = z.infer<typeof LogDrainInput>

export const LogDrainPatch = z
  .strictObject({
    ...fields,
    name: fields.name.optional(),
    url: fields.url.optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'LogDrainPatch', examples: [{ enabled: false }] })
export type LogDrainPatch = z.infer<typeof LogDrainPatch>

export const LogDrain = z
  .object({
    id: idSchema('logDrain'),
    name: z.string().meta({ examples: ['Log archive'] }),
    kind: z.enum(DRAIN_KINDS).meta({ examples: ['loki'] }),
    url: z
      .string()
      .meta({ description: 'Without what is secret in it', examples: ['https://logs.example.com'] }),
    token_hint: z
      .string()
      .nullable()
      .meta({ description: 'The end of the token', examples: [null] }),
    environment: z
      .string()
      .nullable()
      .meta({ description: 'Name', examples: [null] }),
    services: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Ids', examples: [null] }),
    enabled: z.boolean(),
    sent: z.int().meta({ description: 'Lines that the target has taken', examples: [12_345] }),
    dropped: z.int().meta({ description: 'Lines that were removed before it took them', examples: [0] }),
    last_error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    last_sent_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'LogDrain', description: 'Where the output of services is sent on to' })
export type LogDrain = z.infer<typeof LogDrain>

/** The path parameter of one log drain. */
export const LogDrainPath = z.strictObject({
  id: z.string().meta({ description: 'Id of the log drain', examples: ['drn-4f1d0c9a7b3e5d2f6a80'] }),
})
