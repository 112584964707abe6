import { z } from 'zod'
import { Deploy } from '../deploys/schema.ts'
import { viewDeploy } from '../deploys/view.ts'
import { getService } from '../services/store.ts'
import type { Delivered } from './push-webhook.ts'

/** The largest delivery: providers limit theirs to this size. */
export const DELIVERY_LIMIT_BYTES = 25 * 1024 * 1024

export const PushAnswer = z
  .object({
    ok: z.literal(true),
    ignored: z
      .boolean()
      .optional()
      .meta({ description: 'Missing in the answer to a ping', examples: [false] }),
    reason: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Why it was ignored', examples: [null] }),
    deploys: z.array(Deploy).optional(),
  })
  .meta({ id: 'PushAnswer' })

/** The result of a delivery as the API returns it. */
export function viewDelivered(delivered: Delivered): z.input<typeof PushAnswer> {
  if (delivered === 'pong') return { ok: true }
  if ('ignored' in delivered) return { ok: true, ignored: true, reason: delivered.ignored, deploys: [] }
  return { ok: true, ignored: false, reason: delivered.reason, deploys: delivered.deploys.map(viewDeploy) }
}

/** What a delivery has deployed, for the audit log. */
export function changesOfPush({ deploys = [] }: z.input<typeof PushAnswer>): string[] {
  return deploys.map(({ id, service_id }) => `service ${getService(service_id)?.name}: ${id}`)
}
