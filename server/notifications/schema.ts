import { z } from 'zod'
import { idSchema, Timestamp } from '../schema.ts'
import { EVENT_TYPES, NOTIFICATION_KINDS, TEST_TYPE } from './types.ts'

const MAX_NAME_CHARACTERS = 100
const MAX_URL_CHARACTERS = 2_000
const MAX_RECIPIENTS = 20
const MAX_EMAIL_CHARACTERS = 254
/** More than a server has; the list is looked through with each message. */
const MAX_SERVICES = 1_000

export const TargetName = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARACTERS)
  .regex(/^[^\p{Cc}\p{Cf}]+$/u, 'must have no control characters')
export const TargetUrl = z.string().min(1).max(MAX_URL_CHARACTERS)
export const EnvironmentFilter = z
  .string()
  .min(1)
  .nullable()
  .meta({
    description: 'Id or name: only what belongs to that environment; null for all',
    examples: ['production'],
  })
export const ServicesFilter = z
  .array(z.string().min(1))
  .min(1)
  .max(MAX_SERVICES)
  .nullable()
  .meta({ description: 'Ids or names: only these services; null for all', examples: [['api']] })

const EmailAddress = z
  .string()
  .max(MAX_EMAIL_CHARACTERS)
  .regex(/^[^\s@,;<>"]+@[^\s@,;<>"]+$/, 'must be an e-mail address')
const Recipients = z.array(EmailAddress).min(1).max(MAX_RECIPIENTS)
const Events = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .nullable()
  .meta({ description: 'Null for all', examples: [['deploy.failed', 'service.down']] })

const fields = {
  name: TargetName.meta({ examples: ['Team chat'] }),
  url: TargetUrl.optional().meta({
    description: 'Where to send; every kind but e-mail has one',
    examples: ['https://example.com/hooks/deployer'],
  }),
  to: z
    .union([EmailAddress.transform((address) => [address]), Recipients])
    .optional()
    .meta({ description: 'Of e-mail: the recipients', examples: [['ops@example.com']] }),
  events: Events.optional(),
  environment: EnvironmentFilter.optional(),
  services: ServicesFilter.optional(),
}

export const NotificationInput = z
  .strictObject({ kind: z.enum(NOTIFICATION_KINDS).meta({ examples: ['webhook'] }), ...fields })
  .meta({
    id: 'NotificationInput',
    examples: [{ name: 'Team chat', kind: 'webhook', url: 'https://example.com/hooks/deployer' }],
  })
export type NotificationInput = z.infer<typeof NotificationInput>

export const NotificationPatch = z
  .strictObject({ ...fields, name: fields.name.optional(), enabled: z.boolean().optional() })
  .meta({ id: 'NotificationPatch', examples: [{ enabled: false }] })
export type NotificationPatch = z.infer<typeof NotificationPatch>

export const Notification = z
  .object({
    id: idSchema('notification'),
    name: z.string().meta({ examples: ['Team chat'] }),
    kind: z.enum(NOTIFICATION_KINDS).meta({ examples: ['webhook'] }),
    url: z
      .string()
      .nullable()
      .meta({
        description: 'Without what is secret in it',
        examples: ['https://example.com/hooks/deployer'],
      }),
    to: z.array(z.string()).meta({ examples: [[]] }),
    events: Events,
    environment: z
      .string()
      .nullable()
      .meta({ description: 'Name', examples: [null] }),
    services: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Ids', examples: [null] }),
    enabled: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Notification', description: 'Where the server tells what has happened' })
export type Notification = z.infer<typeof Notification>

export const CreatedNotification = Notification.extend({
  secret: z
    .string()
    .nullable()
    .meta({
      description: 'Of a webhook: signs what it is sent (Standard Webhooks). It appears only in this answer',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
}).meta({ id: 'CreatedNotification' })

export const TestResult = z
  .object({
    ok: z.boolean(),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The answer, where there is one', examples: [200] }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: 'TestResult' })
export type TestResult = z.infer<typeof TestResult>

export const DeliveryAttempt = z.object({
  at: Timestamp,
  status: z
    .int()
    .nullable()
    .meta({ examples: [503] }),
  error: z
    .string()
    .nullable()
    .meta({ examples: ['answered 503'] }),
  duration_ms: z.int().meta({ examples: [42] }),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

export const NotificationDelivery = z
  .object({
    id: idSchema('delivery').meta({ description: 'The `webhook-id` of each attempt' }),
    type: z.enum([...EVENT_TYPES, TEST_TYPE]).meta({ examples: ['deploy.failed'] }),
    created_at: Timestamp,
    status: z.enum(['pending', 'delivered', 'failed']).meta({ examples: ['delivered'] }),
    attempts: z.array(DeliveryAttempt),
    next_attempt_at: Timestamp.nullable(),
  })
  .meta({ id: 'NotificationDelivery' })
export type NotificationDelivery = z.infer<typeof NotificationDelivery>

/** The path parameter of one notification. */
export const NotificationPath = z.strictObject({
  id: z.string().meta({ description: 'Id of the notification', examples: ['ntf-4f1d0c9a7b3e5d2f6a80'] }),
})
