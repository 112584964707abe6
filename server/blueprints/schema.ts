import { z } from 'zod'
import { DatastoreInput } from '../datastores/schema.ts'
import { Deploy } from '../deploys/schema.ts'
import { basicAuthOf, Password, Username } from '../edge/input.ts'
import { Name } from '../schema.ts'
import { FileBytes, FileMode, FileName, FilePath, FileText, IsSecret } from '../secret-files/schema.ts'
import { ImageName, RepositoryAddress, ServiceInput, writtenHosts } from '../services/input.ts'
import { PROPERTIES } from '../variables/references.ts'

/** A shape whose fields may be absent, which keeps the current value, or null, which restores the default. */
type Loose<S extends z.ZodRawShape> = {
  [K in keyof S]: z.ZodOptional<z.ZodNullable<S[K] extends z.ZodType ? S[K] : z.ZodType>>
}

function loose<S extends z.ZodRawShape>(shape: S): Loose<S> {
  return Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => {
      const inner = schema instanceof z.ZodDefault ? schema.unwrap() : schema
      const meta = (schema as z.ZodType).meta() ?? {}
      return [field, (inner as z.ZodType).nullable().optional().meta(meta)]
    }),
  ) as Loose<S>
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Rules between fields are checked even if one of the fields is invalid. */
const EVEN_IF_INVALID = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
}

/** Where a variable can get its value from; an entry has exactly one of these. */
const VALUE_SOURCES = ['value', 'from_datastore', 'from_service', 'generate', 'sync'] as const

export const EnvEntry = z
  .strictObject({
    key: z.string().meta({ examples: ['LOG_LEVEL'] }),
    value: z
      .string()
      .optional()
      .meta({
        // A number or boolean without quotes is read as the text that is written.
        type: ['string', 'number', 'boolean'],
        description:
          'As it is written; `${{service.NAME.PROP}}` and `${{datastore.NAME.PROP}}` refer to others',
        examples: ['info'],
      }),
    from_datastore: z
      .strictObject({ name: Name, property: z.enum(PROPERTIES.datastore).optional() })
      .optional()
      .meta({ description: 'A property of a datastore; its url by default' }),
    from_service: z
      .strictObject({
        name: Name,
        property: z.enum(PROPERTIES.service).optional(),
        env_var: z.string().regex(VARIABLE_NAME, 'must be the name of a variable').optional(),
      })
      .refine(({ property, env_var }) => property === undefined || env_var === undefined, {
        error: 'has a property or an env_var, not both',
        ...EVEN_IF_INVALID,
      })
      .optional()
      .meta({
        description: 'A property of another service (by default host and port), or one of its variables',
      }),
    generate: z.literal(true).optional().meta({ description: 'Generated at random once, then kept' }),
    sync: z.literal(false).optional().meta({ description: 'Set by hand; an apply never changes it' }),
  })
  .superRefine((entry, context) => {
    const given = VALUE_SOURCES.filter((source) => entry[source] !== undefined)
    if (given.length !== 1)
      context.addIssue(
        given.length === 0
          ? 'needs a value, from_datastore, from_service, generate: true or sync: false'
          : `has ${given.join(' and ')}: use only one of them`,
      )
  }, EVEN_IF_INVALID)
  .meta({ id: 'EnvEntry', oneOf: VALUE_SOURCES.map((source) => ({ required: [source] })) })
export type EnvEntry = z.infer<typeof EnvEntry>

/** Where a secret file can get its content from; an entry has exactly one of these. */
const CONTENT_SOURCES = ['content', 'content_base64', 'sync'] as const

export const FileEntry = z
  .strictObject({
    name: FileName,
    content: FileText.optional(),
    content_base64: FileBytes.optional(),
    path: FilePath.nullable().optional(),
    mode: FileMode.nullable().optional(),
    secret: IsSecret.nullable().optional(),
    sync: z.literal(false).optional().meta({ description: 'Put by hand; an apply never changes it' }),
  })
  .superRefine((entry, context) => {
    const given = CONTENT_SOURCES.filter((source) => entry[source] !== undefined)
    if (given.length !== 1)
      context.addIssue(
        given.length === 0
          ? 'needs content, content_base64 or sync: false'
          : `has ${given.join(' and ')}: use only one of them`,
      )
  }, EVEN_IF_INVALID)
  .meta({ id: 'SecretFileEntry', oneOf: CONTENT_SOURCES.map((source) => ({ required: [source] })) })
export type FileEntry = z.infer<typeof FileEntry>

/** Where a user's password comes from; a user has exactly one of these. */
const PASSWORD_SOURCES = ['password', 'sync'] as const

const BasicAuthUser = z
  .strictObject({
    username: Username,
    password: Password.optional().meta({ examples: ['correct horse'] }),
    sync: z.literal(false).optional().meta({ description: 'Set by hand; an apply never changes it' }),
  })
  .refine((user) => PASSWORD_SOURCES.filter((source) => user[source] !== undefined).length === 1, {
    error: 'needs a password or sync: false',
    ...EVEN_IF_INVALID,
  })
  .meta({ id: 'BasicAuthUser', oneOf: PASSWORD_SOURCES.map((source) => ({ required: [source] })) })
  .transform(({ username, password = null }) => ({ username, password }))

const { name: _, environment: _place, env: _variables, ...serviceFields } = ServiceInput.shape
const { name: _name, kind, environment: _of, ...datastoreFields } = DatastoreInput.shape

const serviceShape = {
  name: Name.meta({ examples: ['api'] }),
  ...loose({
    ...serviceFields,
    repo_url: RepositoryAddress,
    image: ImageName,
    custom_domains: writtenHosts.custom_domains.meta(serviceFields.custom_domains.meta()!),
    basic_auth: basicAuthOf(BasicAuthUser),
    canonical_domain: writtenHosts.canonical_domain.meta(serviceFields.canonical_domain.meta()!),
  }),
}
const groupName = Name.meta({ examples: ['shared'] })

/** A service without its variables and files, which are read one by one. */
export const ServiceHead = z.strictObject({
  ...serviceShape,
  env: z.unknown().optional(),
  secret_files: z.unknown().optional(),
})
/** An env group without its variables and files. */
export const GroupHead = z.strictObject({
  name: groupName,
  vars: z.unknown().optional(),
  secret_files: z.unknown().optional(),
})
export const DatastoreEntry = z
  .strictObject({ name: Name.meta({ examples: ['db'] }), kind, ...loose(datastoreFields) })
  .meta({ id: 'BlueprintDatastore' })

const variables = z.array(EnvEntry).nullable().optional()
const secret_files = z
  .array(FileEntry)
  .nullable()
  .optional()
  .meta({ description: 'Files for containers and builds, in /etc/secrets unless they have a path' })
const ServiceEntry = z
  .strictObject({ ...serviceShape, env: variables, secret_files })
  .meta({ id: 'BlueprintService' })
const GroupEntry = z
  .strictObject({ name: groupName, vars: variables, secret_files })
  .meta({ id: 'BlueprintEnvGroup' })

/** A file without the items of its lists, which are read one by one. */
export const BlueprintHead = z.strictObject({
  environment: Name.nullable().optional(),
  env_groups: z.unknown().optional(),
  datastores: z.unknown().optional(),
  services: z.unknown().optional(),
})

/** The native dialect. */
export const Blueprint = z
  .strictObject({
    environment: Name.nullable()
      .optional()
      .meta({
        description: 'The environment of its services and datastores; created if it does not exist',
        examples: ['staging'],
      }),
    env_groups: z
      .array(GroupEntry)
      .nullable()
      .optional()
      .meta({ description: 'Variables that services of any environment share' }),
    datastores: z.array(DatastoreEntry).nullable().optional(),
    services: z.array(ServiceEntry).nullable().optional(),
  })
  .meta({ title: 'Blueprint', description: 'Services, datastores and env groups of a project' })

const BLUEPRINT_RESOURCES = ['environment', 'env_group', 'datastore', 'service'] as const
const BLUEPRINT_ACTIONS = ['create', 'update', 'unchanged'] as const

export const BlueprintAction = z
  .object({
    resource: z.enum(BLUEPRINT_RESOURCES).meta({ examples: ['service'] }),
    name: z.string().meta({ examples: ['api'] }),
    action: z.enum(BLUEPRINT_ACTIONS).meta({ examples: ['update'] }),
    changes: z.array(z.string()).meta({
      description: 'What differs, without the values of variables',
      examples: [['port: 3000 -> 8080', 'env.LOG_LEVEL: changed']],
    }),
  })
  .meta({ id: 'BlueprintAction' })
export type BlueprintAction = z.infer<typeof BlueprintAction>

export const BlueprintResult = z
  .object({
    actions: z.array(BlueprintAction),
    deploys: z.array(Deploy).meta({ description: 'The deploys that this queued; none for a dry run' }),
    dry_run: z.boolean().meta({ examples: [false] }),
    warnings: z.array(z.string()).meta({ examples: [[]] }),
  })
  .meta({ id: 'BlueprintResult', description: 'What an apply did or would do' })
export type BlueprintResult = z.infer<typeof BlueprintResult>
