import { z } from 'zod'
import { reachable } from '../access/shown.ts'
import { commitFault } from '../git/refs.ts'
import { InEnvironment, QueryBoolean } from '../http/query.ts'
import { SAMPLE_NAMES } from '../samples/catalog.ts'
import { idSchema, judged, Timestamp } from '../schema.ts'
import { DEPLOY_STATUSES } from './states.ts'

const DEPLOY_TRIGGERS = [
  'create',
  'manual',
  'restart',
  'rollback',
  'upload',
  'deploy_hook',
  'webhook',
  'blueprint',
  'restore',
] as const
export type DeployTrigger = (typeof DEPLOY_TRIGGERS)[number]

/** Where a deploy's image comes from. */
export const DeploySource = z
  .object({
    kind: z.enum(['git', 'image', 'archive']).meta({ examples: ['git'] }),
    repo_url: z
      .string()
      .nullable()
      .meta({ examples: ['https://git.example.com/team/api.git'] }),
    branch: z
      .string()
      .nullable()
      .meta({ examples: ['main'] }),
    commit: z
      .string()
      .nullable()
      .meta({ description: 'The requested commit', examples: [null] }),
  })
  .meta({ id: 'DeploySource' })
export type DeploySource = z.infer<typeof DeploySource>

const Waiting = z
  .object({
    for: z.enum(['disk']).meta({
      description: '`disk`: builds start when `floor_bytes` are free',
      examples: ['disk'],
    }),
    free_bytes: z.int().meta({ description: 'Free bytes of the fuller file system', examples: [734003200] }),
    floor_bytes: z
      .int()
      .meta({ description: 'How much must be free (`--disk-floor`)', examples: [5368709120] }),
    since: Timestamp,
  })
  .meta({ id: 'DeployWaiting', description: 'What keeps a queued deploy from starting' })

export const Deploy = reachable(
  z
    .object({
      id: idSchema('deploy'),
      service_id: idSchema('service'),
      status: z.enum(DEPLOY_STATUSES).meta({ examples: ['live'] }),
      trigger: z.enum(DEPLOY_TRIGGERS).meta({ examples: ['manual'] }),
      source: DeploySource,
      commit_sha: z
        .string()
        .nullable()
        .meta({ examples: ['9fceb02d0ae598e95dc970b74767f19372d61af8'] }),
      commit_message: z
        .string()
        .nullable()
        .meta({ examples: ['Answer in JSON'] }),
      commit_author: z
        .string()
        .nullable()
        .meta({ description: "Name of the commit's author", examples: ['Ada Lovelace'] }),
      image: z
        .string()
        .nullable()
        .meta({ description: 'Reference of the image that runs', examples: ['registry.example.com/api:2'] }),
      port: z
        .int()
        .nullable()
        .meta({ examples: [10000] }),
      error: z
        .string()
        .nullable()
        .meta({ description: 'Why it did not go live', examples: [null] }),
      waiting: Waiting.nullable().meta({
        description: 'What a queued deploy waits for; null if only for its turn',
        examples: [null],
      }),
      created_at: Timestamp,
      started_at: Timestamp.nullable(),
      finished_at: Timestamp.nullable(),
    })
    .meta({ id: 'Deploy', description: 'One attempt to put a version of a service live' }),
  (deploy, reach) => (reach.service(deploy.service_id) ? deploy : undefined),
)
export type Deploy = z.infer<typeof Deploy>

export const DeployRef = z.strictObject({
  deploy_id: z.string().meta({ description: 'Id of the deploy', examples: ['dep-4f1d0c9a7b3e5d2f6a80'] }),
})

/** A commit id (4 to 64 hex characters) or the name of a ref. */
export const Commit = judged(commitFault).meta({ minLength: 1, examples: ['9fceb02'] })

export const DeployInput = z
  .strictObject({
    commit: Commit.optional().meta({
      description: 'Commit or ref to deploy instead of the head of the branch; the remote must have it',
      examples: ['9fceb02'],
    }),
    clear_cache: z
      .boolean()
      .default(false)
      .meta({ description: 'Build without cache', examples: [false] }),
    sample: z
      .enum(SAMPLE_NAMES)
      .optional()
      .meta({
        description: 'A sample to deploy like an upload, for a service without a repository or an image',
        examples: ['site'],
      }),
  })
  .refine(({ commit, sample }) => commit === undefined || sample === undefined, {
    path: ['sample'],
    message: 'excludes commit: name one of them',
  })
  .meta({ id: 'DeployInput', examples: [{ commit: '9fceb02', clear_cache: false }, { sample: 'site' }] })

export const UploadQuery = z.strictObject({ clear_cache: QueryBoolean, ...InEnvironment.shape })

export const RollbackInput = z
  .strictObject({
    deploy_id: z.string().meta({
      description: 'An earlier deploy of this service that was live',
      examples: ['dep-4f1d0c9a7b3e5d2f6a80'],
    }),
  })
  .meta({ id: 'RollbackInput' })
