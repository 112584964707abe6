import { z } from 'zod'
import { reachable } from '../access/shown.ts'
import { ACTOR_KINDS } from '../audit/schema.ts'
import { clampedLimit, InEnvironment } from '../http/query.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { SERVICE_EVENT_NOUNS, SERVICE_EVENT_TYPES } from './types.ts'

const Names = z.array(z.string())

export const ServiceEventDetails = z
  .object({
    trigger: z.string().meta({
      description: 'What started the deploy, the run or the backup',
      examples: ['manual'],
    }),
    commit_sha: z.string(),
    commit_message: z.string(),
    image: z.string(),
    rollback_of: idSchema('deploy'),
    reason: z.string().meta({ examples: ['the program ended: exit code 1'] }),
    exit_code: z.int().meta({ examples: [1] }),
    from: z.int().meta({ description: 'Instances before', examples: [1] }),
    to: z.int().meta({ description: 'Instances now', examples: [3] }),
    names: Names.meta({
      description: 'The settings, variables or secret files that changed, never their values',
      examples: [['port', 'start_command']],
    }),
    more: z.int().meta({ description: 'How many others changed with them' }),
    env_group: z.string().meta({ description: 'The env group in which they changed' }),
    job_id: idSchema('job'),
    due_at: Timestamp,
    backup_id: z.string().meta({ examples: ['dbk-4f1d0c9a7b3e5d2f6a80'] }),
    disk: z.string(),
    size_bytes: z.int(),
    host: z.string().meta({ examples: ['web.example.com'] }),
    domain: z.string().meta({ examples: ['example.com'] }),
    not_after: Timestamp.meta({ description: 'Until when the certificate is valid' }),
  })
  .partial()
export type ServiceEventDetails = z.infer<typeof ServiceEventDetails>

export const ServiceEvent = reachable(
  z
    .object({
      id: idSchema('serviceEvent'),
      service_id: idSchema('service'),
      at: Timestamp,
      type: z.enum(SERVICE_EVENT_TYPES).meta({ examples: ['service.crashed'] }),
      message: z.string().meta({ examples: ['Instance 3f2a1 ended: exit code 1'] }),
      deploy_id: idSchema('deploy').nullable().meta({ description: 'It may no longer be kept' }),
      instance: z
        .string()
        .nullable()
        .meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80-3f2a1'] }),
      details: ServiceEventDetails.meta({ description: 'What is known, by type' }),
      actor: z
        .object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable(), name: z.string().nullable() })
        .nullable()
        .meta({
          description:
            'Who did it, as in the audit log; null for the server itself. Restricted tokens see the kind only',
        }),
      count: z.int().meta({ description: 'How often it happened in a row', examples: [1] }),
      first_at: Timestamp.meta({ description: 'When it happened first; `at` is the last time' }),
    })
    .meta({ id: 'ServiceEvent', description: 'Something that happened to a service' }),
  (event, reach) => (reach.service(event.service_id) ? event : undefined),
)
export type ServiceEvent = z.infer<typeof ServiceEvent>

export const ServiceEventQuery = z.strictObject({
  ...InEnvironment.shape,
  limit: clampedLimit(50, 500),
  before: z
    .string()
    .regex(/^evt-[0-9a-f]{20}$/, 'must be the id of an event of the service')
    .optional()
    .meta({
      description: 'Only events before the one with this id',
      examples: ['evt-4f1d0c9a7b3e5d2f6a80'],
    }),
  type: z
    .enum([...SERVICE_EVENT_TYPES, ...SERVICE_EVENT_NOUNS])
    .optional()
    .meta({
      description: 'A type, or what comes before the dot for all of its types',
      examples: ['deploy'],
    }),
})
