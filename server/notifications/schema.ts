import { z } from 'zod'
import { secret } from '../access/shown.ts'
import {
  destinationAnswer,
  destinationInput,
  destinationPatch,
  destinationUrl,
} from '../destinations/schema.ts'
import { urlFault } from '../network/outgoing.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { EVENT_TYPES, NOTIFICATION_KINDS, TEST_TYPE } from './types.ts'

const MAX_RECIPIENTS = 20
const MAX_EMAIL_CHARACTERS = 254

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
  url: destinationUrl(urlFault)
    .optional()
    .meta({
      description: 'Where to send to; every kind except e-mail has one',
      examples: ['https://example.com/hooks/deployer'],
    }),
  to: z
    .union(
      [EmailAddress.transform((address) => [address]), Recipients],
      'must be an e-mail address or an array of them',
    )
    .optional()
    .meta({ description: 'The recipients of an e-mail', examples: [['ops@example.com']] }),
  events: Events.optional(),
}

export const NotificationInput = z
  .strictObject({
    kind: z.enum(NOTIFICATION_KINDS).meta({ examples: ['webhook'] }),
    ...destinationInput,
    ...fields,
  })
  .meta({
    id: 'NotificationInput',
    examples: [{ name: 'Team chat', kind: 'webhook', url: 'https://example.com/hooks/deployer' }],
  })
export type NotificationInput = z.infer<typeof NotificationInput>

export const NotificationPatch = z
  .strictObject({ ...destinationPatch, ...fields })
  .meta({ id: 'NotificationPatch', examples: [{ enabled: false }] })
export type NotificationPatch = z.infer<typeof NotificationPatch>

export const Notification = z
  .object({
    id: idSchema('notification'),
    ...destinationAnswer,
    kind: z.enum(NOTIFICATION_KINDS).meta({ examples: ['webhook'] }),
    url: secret(z.string()).meta({
      description: 'Its host; of the rest, at most the end is shown',
      examples: ['https://example.com/***oyer'],
    }),
    to: z.array(z.string()).meta({ examples: [[]] }),
    events: Events,
  })
  .meta({ id: 'Notification', description: 'Where the server reports what has happened' })
export type Notification = z.infer<typeof Notification>

export const CreatedNotification = Notification.extend({
  secret: secret(z.string()).meta({
    description:
      'For a webhook: signs the messages to it (Standard Webhooks). It appears only in this answer',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
  }),
}).meta({ id: 'CreatedNotification' })

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
