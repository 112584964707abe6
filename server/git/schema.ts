import { z } from 'zod'
import { secret } from '../access/shown.ts'
import { QueryBoolean } from '../http/query.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { ASKED_URL, BASE_URL, REDIRECT_URI } from './input.ts'

const PROVIDERS = ['gitprov_a', 'gitprov_b'] as const
export type Provider = (typeof PROVIDERS)[number]
const AUTH_KINDS = ['hosted_app', 'oauth', 'token'] as const
export type AuthKind = (typeof AUTH_KINDS)[number]
const CONNECTION_STATUSES = ['pending', 'connected'] as const
export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number]

/** No token, code or name of any provider is longer; the key of an app is under 4 KiB. */
const MAX_CHARACTERS = 2_048

const Text = z.string().min(1).max(MAX_CHARACTERS)
/** The login of an organization. */
const Login = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$/, 'must be the login of an organization')
  .meta({ minLength: 1, maxLength: 100 })
const optional = (example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example] })

const ProviderName = z.enum(PROVIDERS).meta({
  description: '`gitprov_a` is GitHub, `gitprov_b` is GitLab; either may be self-hosted',
  examples: ['gitprov_a'],
})

export const GitConnection = z
  .object({
    id: idSchema('gitConnection'),
    provider: ProviderName,
    auth: z.enum(AUTH_KINDS).meta({ examples: ['hosted_app'] }),
    status: z.enum(CONNECTION_STATUSES).meta({
      description: '`pending`: started in the browser, not finished yet',
      examples: ['connected'],
    }),
    account: optional('octo-org'),
    account_name: optional('Octo Organization'),
    app_slug: optional('deployer-example'),
    app_url: optional('https://github.com/apps/deployer-example'),
    manage_url: optional('https://github.com/settings/installations/123'),
    base_url: optional(null).meta({ description: 'Base URL of a self-hosted instance' }),
    client_id: optional(null).meta({ description: 'Client id of the OAuth application' }),
    push_events: z
      .boolean()
      .meta({ description: 'Whether pushes arrive without a webhook of your own', examples: [true] }),
    repository_selection: optional('selected'),
    scopes: z.array(z.string()).meta({ examples: [[]] }),
    services: z
      .array(z.string())
      .meta({ description: 'Services whose repository is cloned with this connection', examples: [['api']] }),
    token_hint: secret(z.string()).meta({
      description: 'The end of a personal access token',
      examples: [null],
    }),
    token_expires_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'GitConnection', description: 'An account at a git provider; its secrets are never shown' })
export type GitConnection = z.infer<typeof GitConnection>

export const TokenInput = z
  .strictObject({
    provider: ProviderName,
    token: Text.trim()
      .regex(/^[\x21-\x7e]+$/, 'must be a token without spaces')
      .meta({ description: 'A personal access token', examples: ['ghp_example'] }),
    base_url: BASE_URL.nullable()
      .optional()
      .meta({ description: 'Base URL of a self-hosted instance', examples: ['https://git.example.com'] }),
  })
  .meta({ id: 'GitTokenInput', examples: [{ provider: 'gitprov_a', token: 'ghp_example' }] })
export type TokenInput = z.infer<typeof TokenInput>

/** The fault of an OAuth application with only one of its two halves. */
export const HALF_APPLICATION = 'must be given together with client_secret'

export const AuthorizeInput = z
  .strictObject({
    provider: ProviderName.optional(),
    redirect_uri: REDIRECT_URI.meta({
      description: "The dashboard's page `/git/callback`",
      examples: ['https://dashboard.example.com/git/callback'],
    }),
    connection_id: idSchema('gitConnection')
      .optional()
      .meta({ description: 'Resumes a pending connection, or re-authorizes one' }),
    client_id: Text.optional().meta({ description: 'Client id of the OAuth application, for `gitprov_b`' }),
    client_secret: Text.optional(),
    base_url: BASE_URL.nullable().optional(),
    organization: Login.nullable()
      .optional()
      .meta({ description: 'Owner of the new app, for `gitprov_a`', examples: ['octo-org'] }),
  })
  .superRefine((input, context) => {
    const refuse = (field: keyof typeof input, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (input.provider === undefined && input.connection_id === undefined)
      refuse('provider', 'is required, unless connection_id is given')
    if (input.provider === 'gitprov_b' && typeof input.organization === 'string')
      refuse('organization', 'is only for GitHub')
    if (input.provider === 'gitprov_b' && !isWhole(input)) refuse('client_id', HALF_APPLICATION)
  })
  .meta({
    id: 'GitAuthorizeInput',
    examples: [
      { provider: 'gitprov_a', redirect_uri: 'https://dashboard.example.com/git/callback' },
      {
        connection_id: 'git-4f1d0c9a7b3e5d2f6a80',
        redirect_uri: 'https://dashboard.example.com/git/callback',
      },
    ],
  })
export type AuthorizeInput = z.infer<typeof AuthorizeInput>

/** Whether both halves of an OAuth application are given, or neither. */
export function isWhole(input: {
  client_id?: string | undefined
  client_secret?: string | undefined
}): boolean {
  return (input.client_id === undefined) === (input.client_secret === undefined)
}

export const CallbackInput = z
  .strictObject({
    state: Text.optional(),
    code: Text.optional(),
    installation_id: z
      .union([z.int().positive(), z.string().regex(/^[1-9]\d{0,15}$/, 'must be a number')])
      .transform(Number)
      .optional()
      .meta({ examples: [123] }),
  })
  .meta({ id: 'GitCallbackInput', examples: [{ state: 'c2f1', code: '9a7b' }] })
export type CallbackInput = z.infer<typeof CallbackInput>

/** The next step of a flow in the browser. */
export const Authorization = z
  .object({
    status: z.enum(['redirect', 'connected']).meta({ examples: ['redirect'] }),
    method: z.enum(['get', 'post']).meta({ examples: ['post'] }),
    url: optional('https://github.com/settings/apps/new?state=c2f1'),
    fields: z.record(z.string(), z.string()).meta({ examples: [{ manifest: '{}' }] }),
    connection: GitConnection,
  })
  .meta({ id: 'GitAuthorization', description: 'Where the browser goes next, if anywhere' })

export const Repository = z
  .object({
    id: z.string().meta({ examples: ['1296269'] }),
    name: z.string().meta({ examples: ['api'] }),
    full_name: z.string().meta({ examples: ['octo-org/api'] }),
    owner: z.string().meta({ examples: ['octo-org'] }),
    description: optional(null),
    default_branch: optional('main'),
    clone_url: z.string().meta({ examples: ['https://github.com/octo-org/api.git'] }),
    web_url: z.string().meta({ examples: ['https://github.com/octo-org/api'] }),
    private: z.boolean().meta({ examples: [true] }),
    archived: z.boolean().meta({ examples: [false] }),
    updated_at: Timestamp.nullable(),
  })
  .meta({ id: 'GitRepository' })
export type Repository = z.infer<typeof Repository>

export const Repositories = z
  .object({
    repositories: z.array(Repository),
    truncated: z.boolean().meta({ description: 'There are more than those listed', examples: [false] }),
  })
  .meta({ id: 'GitRepositories' })

export const ConnectionRef = z.strictObject({ id: idSchema('gitConnection') })

export const ConnectionDeletion = z.strictObject({
  force: QueryBoolean.describe('Removes it even when services are cloned with it'),
})

export const BranchesQuery = z.strictObject({ repo_url: ASKED_URL })

export const Branches = z
  .object({
    branches: z.array(z.string()).meta({ examples: [['main']] }),
    default_branch: optional('main'),
    connection_id: optional(null).meta({ description: 'The connection that serves the address' }),
  })
  .meta({ id: 'Branches' })
