import { z } from 'zod'
import { ASKED_URL, DEPLOYABLE_URL } from '../git/input.ts'
import { relativePathFault } from '../services/rules.ts'
import { idSchema, judged, Name, Timestamp } from '../schema.ts'
import { Branch } from './requests.ts'
import { BlueprintAction } from './schema.ts'

const Path = judged((path) => {
  if (path === '' || path.length > 1_024) return 'must have 1 to 1024 characters'
  return relativePathFault(path)
}).meta({
  description: 'Path of the file; by default deployer.yaml, or else render.yaml',
  examples: ['deployer.yaml'],
})

const EnvironmentName = z
  .string()
  .min(1)
  .nullable()
  .optional()
  .meta({
    description: 'Id or name; used if the file does not name an environment',
    examples: ['production'],
  })

/** Path segments of the API that are not the name of a blueprint. */
const RESERVED_NAMES = ['apply', 'convert', 'export', 'file']

export const BlueprintName = Name.refine(
  (name) => !RESERVED_NAMES.includes(name),
  `must not be ${RESERVED_NAMES.join(', ')}: the API uses these paths under /blueprints/ for something else`,
).meta({ examples: ['shop'] })

const settings = {
  branch: Branch.nullable().optional().meta({ description: "Null is the remote's default branch" }),
  path: Path.nullable().optional(),
  environment: EnvironmentName,
  auto_sync: z
    .boolean()
    .optional()
    .meta({ description: 'A push that changes the file applies it', examples: [true] }),
  overwrite_variables: z
    .boolean()
    .optional()
    .meta({ description: 'A sync replaces variables that were set by hand', examples: [false] }),
}

export const SyncedBlueprintInput = z
  .strictObject({ name: BlueprintName, repo_url: DEPLOYABLE_URL, ...settings })
  .meta({ id: 'SyncedBlueprintInput' })
export type SyncedBlueprintInput = z.infer<typeof SyncedBlueprintInput>

export const SyncedBlueprintPatch = z
  .strictObject({
    name: BlueprintName.optional(),
    repo_url: DEPLOYABLE_URL.optional(),
    ...settings,
  })
  .meta({ id: 'SyncedBlueprintPatch', examples: [{ auto_sync: false }] })
export type SyncedBlueprintPatch = z.infer<typeof SyncedBlueprintPatch>

const SYNC_STATUSES = ['succeeded', 'unchanged', 'failed'] as const

export const LastSync = z
  .object({
    at: Timestamp,
    commit: z
      .string()
      .nullable()
      .meta({ examples: ['9fceb02d0ae598e95dc970b74767f19372d61af8'] }),
    status: z.enum(SYNC_STATUSES).meta({ examples: ['succeeded'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed, with every error in the file', examples: [null] }),
    actions: z.array(BlueprintAction),
  })
  .meta({ id: 'BlueprintSync' })
export type LastSync = z.infer<typeof LastSync>

export const SyncedBlueprint = z
  .object({
    id: idSchema('blueprint'),
    name: z.string().meta({ examples: ['shop'] }),
    repo_url: z.string().meta({
      description: 'Credentials are shown as ***',
      examples: ['https://git.example.com/team/project.git'],
    }),
    branch: z
      .string()
      .nullable()
      .meta({ examples: ['main'] }),
    path: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    environment: z.string().meta({ description: 'Name of the environment', examples: ['production'] }),
    auto_sync: z.boolean().meta({ examples: [true] }),
    overwrite_variables: z.boolean().meta({ examples: [false] }),
    last_sync: LastSync.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({
    id: 'SyncedBlueprint',
    description: 'A blueprint that is kept in sync with a file in a repository',
  })
export type SyncedBlueprint = z.infer<typeof SyncedBlueprint>

export const FileQuery = z.strictObject({
  repo_url: ASKED_URL,
  branch: Branch.optional(),
  path: Path.optional(),
})

export const RepositoryFile = z
  .object({
    yaml: z.string().meta({ examples: ['services:\n  - name: web\n    image: nginx\n'] }),
    path: z.string().meta({ examples: ['deployer.yaml'] }),
    branch: z
      .string()
      .nullable()
      .meta({ examples: ['main'] }),
    commit: z.string().meta({ examples: ['9fceb02d0ae598e95dc970b74767f19372d61af8'] }),
  })
  .meta({ id: 'BlueprintFile', description: 'A blueprint file in a repository' })
export type RepositoryFile = z.infer<typeof RepositoryFile>
