import { z } from 'zod'
import { clampedLimit } from '../http/query.ts'
import { idSchema, Timestamp } from '../schema.ts'

const optional = (example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example] })

const Verdict = z.enum(['deployed', 'ignored', 'refused']).meta({ examples: ['deployed'] })

export const Delivery = z
  .object({
    id: idSchema('delivery'),
    at: Timestamp,
    event: optional('push'),
    delivery: optional('72d3162e-cc78-11e3-81ab-4c9367dc0958').meta({ description: "The provider's own id" }),
    repository: optional('octo-org/api'),
    ref: optional('refs/heads/main'),
    commit: optional('9fceb02d0ae598e95dc970b74767f19372d61af8'),
    verdict: Verdict,
    reason: optional(null).meta({ description: 'Why something, or everything, was not deployed' }),
    deploys: z
      .array(idSchema('deploy'))
      .meta({ description: 'The deploys that it started', examples: [['dep-4f1d0c9a7b3e5d2f6a80']] }),
  })
  .meta({ id: 'GitDelivery', description: 'A delivery of the push webhook and its result' })
export type Delivery = z.infer<typeof Delivery>

export const DeliveriesQuery = z.strictObject({
  limit: clampedLimit(50, 200),
  verdict: Verdict.optional().meta({ description: 'Only deliveries with this verdict' }),
})
