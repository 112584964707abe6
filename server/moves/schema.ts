import { z } from 'zod'
import { NodeRef } from '../nodes/schema.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { MOVE_STATUSES } from './states.ts'

export const MoveInput = z
  .strictObject({
    node: NodeRef.meta({ description: 'Id or name of the node that it goes to', examples: ['worker-2'] }),
    from_backup: z
      .boolean()
      .default(false)
      .meta({
        description:
          'Restores the newest backup there, and what was written since is lost. Only for what is on a node that does not answer',
        examples: [false],
      }),
  })
  .meta({ id: 'MoveInput', examples: [{ node: 'worker-2' }] })
export type MoveInput = z.infer<typeof MoveInput>

export const Move = z
  .object({
    from_node: idSchema('node'),
    to_node: idSchema('node'),
    to_node_name: z
      .string()
      .nullable()
      .meta({ description: 'Null for a node that is gone', examples: ['worker-2'] }),
    from_backup: z.boolean().meta({ examples: [false] }),
    status: z.enum(MOVE_STATUSES).meta({ examples: ['running'] }),
    done_bytes: z
      .int()
      .nullable()
      .meta({ description: 'How much is copied; null before the copy begins', examples: [104_857_600] }),
    total_bytes: z
      .int()
      .nullable()
      .meta({ description: 'About how much there is to copy; null if that is not known', examples: [null] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; everything is then where it was', examples: [null] }),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Move', description: 'A move of a datastore, or of a service with its disks, to another node' })
export type Move = z.infer<typeof Move>
