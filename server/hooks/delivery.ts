import { z } from 'zod'
import { idSchema, Timestamp } from '../schema.ts'

const optional = (example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example] })

export const Delivery = z
  .object({
    id: idSchema('delivery'),
    at: Timestamp,
    event: optional('push'),
    delivery: optional('72d3162e-cc78-11e3-81ab-4c9367dc0958').meta({ description: "The provider's own id" }),
    repository: optional('octo-org/api'),
    ref: optional('refs/heads/main'),
    commit: optional('9fceb02d0ae598e95dc970b74767f19372d61af8'),
    verdict: z.enum(['deployed', 'ignored', 'refused']).meta({ examples: ['deployed'] }),
    reason: optional(null).meta({ description: 'Why not all, or nothing, was deployed' }),
    deploys: z
      .array(idSchema('deploy'))
      .meta({ description: 'What it deployed', examples: [['dep-4f1d0c9a7b3e5d2f6a80']] }),
  })
  .meta({ id: 'GitDelivery', description: 'A delivery of the push webhook and what became of it' })
export type Delivery = z.infer<typeof Delivery>

const DEFAULT_DELIVERIES = 50
const MAX_DELIVERIES = 200

export const DeliveriesQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .optional()
    .transform((text) =>
      text === undefined ? DEFAULT_DELIVERIES : Math.min(MAX_DELIVERIES, Math.max(1, Number(text))),
    )
    .meta({
      override: { type: 'integer', minimum: 1, maximum: MAX_DELIVERIES, default: DEFAULT_DELIVERIES },
    }),
})
