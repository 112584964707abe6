import { z } from 'zod'
import { Deploy } from './schema.ts'
import { FILE_PARTS, SETUP_FIELDS, UNKNOWN_FIELDS } from './setup-fields.ts'

/** More than one service can have of anything. */
const MAX_NAMED = 1_000

const SettingValue = z.union([
  z.string(),
  z.number(),
  z.array(z.string()),
  z.array(z.object({ name: z.string(), mount_path: z.string() })),
  z.null(),
])

const Change = z.enum(['added', 'removed', 'changed'])

const VariableDifference = z
  .object({
    key: z.string().meta({ examples: ['LOG_LEVEL'] }),
    change: Change.meta({ examples: ['changed'] }),
    by_reference: z.boolean().meta({
      description: 'Whether its text is the same, and something that it refers to has another value',
      examples: [false],
    }),
  })
  .meta({ id: 'VariableDifference' })

const FileDifference = z
  .object({
    name: z.string().meta({ examples: ['tls.key'] }),
    change: Change.meta({ examples: ['changed'] }),
    parts: z
      .array(z.enum(FILE_PARTS))
      .meta({ description: 'What differs of a changed one', examples: [['content']] }),
  })
  .meta({ id: 'SecretFileDifference' })

const GroupDifference = z
  .object({
    name: z
      .string()
      .nullable()
      .meta({ description: 'Null for a group that the token does not reach', examples: ['shared'] }),
    change: z.enum(['linked', 'unlinked', 'changed']).meta({ examples: ['changed'] }),
    variables: z
      .array(VariableDifference)
      .meta({ description: 'Those of its variables that the service gets, or got, from it' }),
    secret_files: z.array(FileDifference),
  })
  .meta({ id: 'EnvGroupDifference' })

export const Comparison = z
  .object({
    from: Deploy.nullable().meta({ description: 'Null if there is nothing to compare with' }),
    to: Deploy.nullable().meta({ description: 'Null for what is saved now' }),
    count: z.int().meta({ description: 'How many things differ; a group counts once', examples: [1] }),
    settings: z.array(
      z
        .object({
          field: z.enum(SETUP_FIELDS).meta({ examples: ['start_command'] }),
          old: SettingValue.meta({ examples: ['npm start'] }),
          new: SettingValue.meta({
            description: 'The same as `old` if only the credentials of the repository differ',
            examples: ['node server.js'],
          }),
        })
        .meta({ id: 'SettingDifference' }),
    ),
    variables: z.array(VariableDifference).meta({ description: "The service's own, without their values" }),
    secret_files: z.array(FileDifference).meta({ description: "The service's own, without their contents" }),
    groups: z.array(GroupDifference),
    unknown: z.array(z.enum(UNKNOWN_FIELDS)).meta({
      description:
        'What cannot be compared, since one of the two has no record of it: a deploy that never began, or of an earlier version of the server',
      examples: [[]],
    }),
  })
  .meta({ id: 'Comparison', description: 'What differs between two setups of a service' })
export type Comparison = z.infer<typeof Comparison>

export const ComparedWith = z.strictObject({
  with: z
    .string()
    .min(1)
    .optional()
    .meta({
      description: 'Id of another deploy of the same service; the one that was live before when absent',
      examples: ['dep-7b3e5d2f6a804f1d0c9a'],
    }),
})

const names = (description: string, example: string) =>
  z
    .array(z.string().min(1))
    .max(MAX_NAMED)
    .optional()
    .meta({ description, examples: [[example]] })

export const DiscardInput = z
  .strictObject({
    settings: z
      .array(z.enum(SETUP_FIELDS))
      .max(SETUP_FIELDS.length)
      .optional()
      .meta({ description: 'Fields of the service', examples: [['start_command']] }),
    variables: names("Keys of the service's own variables", 'LOG_LEVEL'),
    secret_files: names("Names of the service's own secret files", 'tls.key'),
    groups: names('Names of env groups to link or unlink again', 'shared'),
  })
  .meta({ id: 'DiscardInput', description: 'What to discard; all changes when it has no field' })
export type DiscardInput = z.infer<typeof DiscardInput>

export const Discarded = z
  .object({
    discarded: z.array(z.string()).meta({
      description: 'What was put back, in the words of the audit log',
      examples: [['start_command: node server.js -> npm start', 'env.LOG_LEVEL: changed']],
    }),
    kept: z
      .array(
        z.object({
          change: z.string().meta({ examples: ['env_groups.shared: changed'] }),
          reason: z
            .string()
            .meta({ examples: ['the env group has its own page, since others may share it'] }),
        }),
      )
      .meta({ description: 'What could not be put back, and why', examples: [[]] }),
  })
  .meta({ id: 'Discarded' })
export type Discarded = z.infer<typeof Discarded>
