import { z } from 'zod'

export const RESTORE_STATUSES = ['fenced', 'running', 'done'] as const
export type RestoreStatus = (typeof RESTORE_STATUSES)[number]

export const STEP_RESOURCES = ['datastore', 'disk', 'service', 'unknown'] as const
export type StepResource = (typeof STEP_RESOURCES)[number]
export const STEP_ACTIONS = ['adopt', 'restore', 'deploy', 'none'] as const
export type StepAction = (typeof STEP_ACTIONS)[number]
export const STEP_STATUSES = ['waiting', 'running', 'done', 'failed'] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

const RestoreStep = z
  .object({
    resource: z.enum(STEP_RESOURCES).meta({
      description: '`unknown` is a container of this server that the restored records do not know',
      examples: ['datastore'],
    }),
    id: z.string().meta({ examples: ['dbs-4f1d0c9a7b3e5d2f6a80'] }),
    disk: z
      .string()
      .nullable()
      .meta({ description: 'The name of a disk, whose `id` is that of its service', examples: [null] }),
    name: z.string().meta({ examples: ['shop'] }),
    action: z.enum(STEP_ACTIONS).meta({
      description:
        '`adopt` keeps what the engine still has, `restore` takes it from a backup, `deploy` builds or pulls it again, `none` can do nothing',
      examples: ['restore'],
    }),
    status: z.enum(STEP_STATUSES).meta({ examples: ['done'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed, or what is different now', examples: [null] }),
  })
  .meta({ id: 'RestoreStep' })
export type RestoreStep = z.infer<typeof RestoreStep>

export const ServerRestore = z
  .object({
    status: z.enum(RESTORE_STATUSES).meta({
      description: '`fenced` until it is confirmed that the old server is gone',
      examples: ['running'],
    }),
    waiting: z
      .string()
      .nullable()
      .meta({
        description: 'What keeps it from going on although it was confirmed, and what to do',
        examples: [null],
      }),
    steps: z.array(RestoreStep),
  })
  .meta({ id: 'ServerRestore', description: 'What happens after the server was restored from a backup' })
export type ServerRestore = z.infer<typeof ServerRestore>
