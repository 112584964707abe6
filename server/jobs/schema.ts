import { z } from 'zod'
import { leastAccess } from '../access/check.ts'
import { reachable } from '../access/shown.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { JOB_STATUSES } from './states.ts'

const JOB_TRIGGERS = ['schedule', 'manual'] as const
export type JobTrigger = (typeof JOB_TRIGGERS)[number]

/** The same limit as for a service's own commands. */
const MAX_COMMAND_CHARACTERS = 16 * 1024

export const Job = reachable(
  z
    .object({
      id: idSchema('job'),
      service_id: idSchema('service'),
      status: z.enum(JOB_STATUSES).meta({ examples: ['succeeded'] }),
      trigger: z.enum(JOB_TRIGGERS).meta({ examples: ['schedule'] }),
      command: z
        .string()
        .nullable()
        .meta({ description: "Null runs the image's own command", examples: ['npm run report'] }),
      image: z
        .string()
        .nullable()
        .meta({ description: 'The image that it runs in', examples: ['registry.example.com/api:2'] }),
      node: idSchema('node')
        .nullable()
        .meta({ description: 'The node that it runs on; null until it is placed' }),
      node_name: z
        .string()
        .nullable()
        .meta({ description: 'Null for a node that is gone too', examples: ['worker-1'] }),
      exit_code: z
        .int()
        .nullable()
        .meta({ description: 'Null when the program did not exit by itself', examples: [0] }),
      error: z
        .string()
        .nullable()
        .meta({ description: 'Why it did not succeed', examples: [null] }),
      created_at: Timestamp,
      started_at: Timestamp.nullable(),
      finished_at: Timestamp.nullable(),
    })
    .meta({ id: 'Job', description: 'One run of a cron job or of a one-off command' }),
  (job, reach) => (reach.service(job.service_id) ? job : undefined),
)
export type Job = z.infer<typeof Job>

export const JobRef = z.strictObject({
  job_id: z.string().meta({ description: 'Id of the job', examples: ['job-4f1d0c9a7b3e5d2f6a80'] }),
})

export const JobInput = z
  .strictObject({
    command: z
      .string()
      .max(MAX_COMMAND_CHARACTERS)
      .refine((text) => text.trim() !== '', 'must not be empty: leave it out for the command of a cron job')
      .refine((text) => !text.includes('\0'), 'must not contain NUL')
      .optional()
      .meta({
        description: 'Runs with `sh -c`; when absent, a cron job runs its own command',
        examples: ['npm run report'],
        minLength: 1,
        ...leastAccess('full'),
      }),
  })
  .meta({ id: 'JobInput' })
export type JobInput = z.output<typeof JobInput>
