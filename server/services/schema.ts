import { z } from 'zod'
import { Deploy } from '../deploys/schema.ts'
import { branchNameFault } from '../git/refs.ts'
import { deployableUrlFault } from '../git/input.ts'
import { repositoryUrlFault } from '../git/url.ts'
import { CpuLimit, MemoryLimit } from '../limits.ts'
import { idSchema, Name, Timestamp } from '../schema.ts'
import { scheduleFault } from '../jobs/cron.ts'
import { Job } from '../jobs/schema.ts'
import { APT_PACKAGE, healthPathFault, imageFault, mountPathFault, relativePathFault } from './rules.ts'
import { SERVICE_TYPES } from './types.ts'
import { watchPathsFault } from './watch-paths.ts'

/**
 * How an image is made: `auto` looks for a Dockerfile, then for a language; a language's name skips the looking;
 * `static` takes a site's files as they are.
 */
export const RUNTIMES = [
  'auto',
  'docker',
  'image',
  'static',
  'node',
  'bun',
  'deno',
  'python',
  'go',
  'ruby',
  'rust',
  'php',
  'java',
  'elixir',
  'scala',
  'clojure',
  'dotnet',
  'gleam',
  'cpp',
  'shell',
] as const
export type Runtime = (typeof RUNTIMES)[number]

export const SERVICE_STATES = [
  'not_deployed',
  'deploying',
  'running',
  'degraded',
  'down',
  'suspended',
  'idle',
  'failed',
  'deleting',
] as const
export type ServiceState = (typeof SERVICE_STATES)[number]

/** Each is looked up and certified by itself. */
const MAX_CUSTOM_DOMAINS = 100

/** Each is tried on each file of a push. */
const MAX_WATCH_PATHS = 50

/** Most instances of one service. */
export const MAX_INSTANCES = 32

/** As many are more than any program needs beside the base image. */
const MAX_APT_PACKAGES = 50
const MAX_PACKAGE_CHARACTERS = 128

const MAX_COMMAND_CHARACTERS = 16 * 1024

/** A text of at most this length without NUL; what is longer is no setting. */
function text(maximum: number) {
  return z
    .string()
    .max(maximum)
    .refine((value) => !value.includes('\0'), 'must not contain NUL')
    .refine((value) => value.isWellFormed(), 'must not contain half of a surrogate pair')
}

/** An optional text setting: null or an empty string clears it. `fault` answers what is wrong with a text, or null. */
function setting(maximum: number, fault: (value: string) => string | null = () => null) {
  return text(maximum)
    .nullable()
    .transform((value) => (value === null || value.trim() === '' ? null : value))
    .superRefine((value, context) => {
      const found = value === null ? null : fault(value)
      if (found) context.addIssue(found)
    })
    .optional()
}

export const InstanceCount = z
  .int()
  .min(0)
  .max(MAX_INSTANCES)
  .meta({ examples: [2] })

export const EnvVar = z
  .strictObject({
    key: z.string().meta({ examples: ['LOG_LEVEL'] }),
    value: z.string().meta({ examples: ['info'] }),
  })
  .meta({ id: 'EnvVar' })
export type EnvVar = z.infer<typeof EnvVar>

const AptPackage = z
  .string()
  .max(MAX_PACKAGE_CHARACTERS)
  .regex(APT_PACKAGE, 'must be the name of a Debian package, such as ffmpeg')

const Port = z
  .int()
  .min(1)
  .max(65_535)
  .nullable()
  .optional()
  .meta({
    description: 'Where the program listens; else its PORT variable, the one EXPOSEd port, 10000',
    examples: [3000],
  })

/** A repository's address by its form alone; whether this server may clone it is judged where its options are known. */
export const RepositoryAddress = setting(2_048, repositoryUrlFault).meta({
  examples: ['https://git.example.com/team/api.git'],
})

/** The settings that a create and a patch share. */
const settings = {
  runtime: z
    .enum(RUNTIMES)
    .optional()
    .meta({ examples: ['auto'] }),
  repo_url: setting(2_048, deployableUrlFault).meta({ examples: ['https://git.example.com/team/api.git'] }),
  branch: setting(255, branchNameFault).meta({
    description: "Null is the remote's default branch",
    examples: ['main'],
  }),
  root_dir: setting(1_024, relativePathFault).meta({ examples: ['services/api'] }),
  dockerfile_path: setting(1_024, relativePathFault).meta({ examples: ['Dockerfile'] }),
  image: setting(1_024, imageFault).meta({ examples: ['registry.example.com/api:2'] }),
  build_command: setting(MAX_COMMAND_CHARACTERS).meta({ examples: ['npm run build'] }),
  start_command: setting(MAX_COMMAND_CHARACTERS).meta({ examples: ['npm start'] }),
  pre_deploy_command: setting(MAX_COMMAND_CHARACTERS).meta({
    description: 'Runs once in the new image before the rollout; its failure fails the deploy',
    examples: ['npm run migrate'],
  }),
  publish_dir: setting(1_024, relativePathFault).meta({
    description: "A static site's folder to publish, relative to root_dir",
    examples: ['dist'],
  }),
  health_check_path: setting(1_024, healthPathFault).meta({ examples: ['/healthz'] }),
  port: Port,
  schedule: setting(256, scheduleFault).meta({
    description: 'When a cron job runs: five fields, in UTC',
    examples: ['0 3 * * *'],
  }),
  disk_mount_path: setting(1_024, mountPathFault).meta({
    description:
      'Where the one disk of a service is seen inside its container; such a service runs one instance',
    examples: ['/data'],
  }),
  apt_packages: z
    .array(AptPackage)
    .max(MAX_APT_PACKAGES)
    .optional()
    .meta({
      description:
        'Debian packages for the build and the program, where a language plan makes the image; an Aptfile adds to them',
      examples: [['ffmpeg']],
    }),
  instances: InstanceCount.optional(),
  memory_limit_mb: MemoryLimit.optional(),
  cpu_limit: CpuLimit.optional(),
  auto_deploy: z
    .boolean()
    .optional()
    .meta({ examples: [true] }),
  watch_paths: z
    .array(text(1_024))
    .max(MAX_WATCH_PATHS)
    .nullable()
    .transform((paths) => (paths === null || paths.length === 0 ? null : paths))
    .superRefine((paths, context) => {
      const fault = paths === null ? null : watchPathsFault(paths)
      if (fault) context.addIssue(fault)
    })
    .optional()
    .meta({
      description:
        "Globs from the repository's root: a push that touches none of them deploys nothing; null is all",
      examples: [['services/api/**', 'package-lock.json']],
    }),
  custom_domains: z
    .array(text(1_024))
    .max(MAX_CUSTOM_DOMAINS)
    .optional()
    .meta({
      description: 'Hosts of its own, of a web service or static site',
      examples: [['www.example.org']],
    }),
  canonical_domain: setting(1_024).meta({
    description: 'One of its custom domains, to which requests to the others are redirected',
    examples: ['www.example.org'],
  }),
  compression: z
    .boolean()
    .optional()
    .meta({
      description:
        'Compresses what a web service answers (zstd, br, gzip) where it gains; not answers with Set-Cookie. Leave it off where a page holds a secret beside what its visitor sent (BREACH)',
      examples: [false],
    }),
  env_groups: z
    .array(z.string().min(1))
    .optional()
    .meta({
      description: 'Env groups by name or id; a later one wins over an earlier one',
      examples: [['shared']],
    }),
}

export const ServiceInput = z
  .strictObject({
    name: Name.meta({ examples: ['api'] }),
    type: z
      .enum(SERVICE_TYPES)
      .default('web_service')
      .meta({ examples: ['web_service'] }),
    environment: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Id or name', examples: ['production'] }),
    ...settings,
    env: z.array(EnvVar).optional(),
    deploy: z
      .boolean()
      .default(true)
      .meta({ description: 'False skips the first deploy', examples: [true] }),
  })
  .meta({
    id: 'ServiceInput',
    examples: [
      {
        name: 'api',
        repo_url: 'https://git.example.com/team/api.git',
        branch: 'main',
        env: [{ key: 'LOG_LEVEL', value: 'info' }],
      },
    ],
  })
export type ServiceInput = z.infer<typeof ServiceInput>

export const ServicePatch = z
  .strictObject({
    name: Name.optional().meta({ examples: ['api'] }),
    ...settings,
    env: z.array(EnvVar).optional().meta({ description: "Becomes the service's own variables" }),
    suspended: z
      .boolean()
      .optional()
      .meta({ examples: [false] }),
  })
  .meta({ id: 'ServicePatch', examples: [{ start_command: 'npm start', health_check_path: '/healthz' }] })
export type ServicePatch = z.infer<typeof ServicePatch>

const optional = (example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example] })

export const Service = z
  .object({
    id: idSchema('service'),
    name: z.string().meta({ examples: ['api'] }),
    environment: z.string().meta({ description: 'Name of the environment', examples: ['production'] }),
    type: z.enum(SERVICE_TYPES).meta({ examples: ['web_service'] }),
    runtime: z.enum(RUNTIMES).meta({ examples: ['auto'] }),
    repo_url: optional('https://git.example.com/team/api.git').meta({
      description: 'Credentials are shown as ***',
    }),
    branch: optional('main'),
    root_dir: optional(null),
    dockerfile_path: optional(null),
    image: optional(null),
    build_command: optional(null),
    start_command: optional(null),
    publish_dir: optional(null),
    pre_deploy_command: optional(null),
    health_check_path: optional('/healthz'),
    port: z
      .int()
      .nullable()
      .meta({ examples: [null] }),
    schedule: optional(null),
    disk_mount_path: optional(null),
    instances: z.int().meta({ examples: [1] }),
    memory_limit_mb: z
      .int()
      .meta({ description: 'MiB as asked for; 0 is the server default', examples: [0] }),
    cpu_limit: z.number().meta({ description: 'CPUs as asked for; 0 is the server default', examples: [0] }),
    apt_packages: z
      .array(z.string())
      .meta({ description: 'Debian packages for build and program', examples: [['ffmpeg']] }),
    auto_deploy: z.boolean().meta({ examples: [true] }),
    suspended: z.boolean().meta({ examples: [false] }),
    custom_domains: z.array(z.string()).meta({ examples: [[]] }),
    watch_paths: z
      .array(z.string())
      .nullable()
      .meta({ description: 'What a push has to touch to deploy it; null is anything', examples: [null] }),
    canonical_domain: optional(null).meta({
      description: 'The custom domain to which requests to the others are redirected',
    }),
    compression: z
      .boolean()
      .meta({ description: 'Its answers are compressed for who takes that', examples: [false] }),
    deploy_hook_key: z.string().meta({ examples: ['5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e'] }),
    live_deploy_id: idSchema('deploy').nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    settings_updated_at: Timestamp.meta({
      description: 'When something was last saved that containers get with a deploy or restart',
    }),
    deploy_hook_path: z.string().meta({
      examples: ['/hooks/deploy/srv-4f1d0c9a7b3e5d2f6a80?key=5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e'],
    }),
    env_groups: z.array(z.string()).meta({
      description: 'Names of the linked env groups, in the order of the links',
      examples: [['shared']],
    }),
    hosts: z
      .array(z.string())
      .meta({ description: 'All that it is served at', examples: [['api.localhost']] }),
    internal_host: z
      .string()
      .nullable()
      .meta({ examples: ['api'] }),
    internal_port: z
      .int()
      .nullable()
      .meta({ examples: [10000] }),
    latest_deploy: Deploy.nullable(),
    last_run: Job.nullable().meta({ description: 'The newest run of a cron job that has ended' }),
    state: z.enum(SERVICE_STATES).meta({ examples: ['running'] }),
    url: optional('http://api.localhost'),
  })
  .meta({ id: 'Service', description: 'An application that the server builds and runs' })
export type Service = z.infer<typeof Service>

export const CustomDomains = z.array(z.string()).meta({ examples: [['www.example.org']] })

export const CustomDomainInput = z
  .strictObject({ domain: z.string().meta({ examples: ['www.example.org'] }) })
  .meta({ id: 'CustomDomainInput' })

export const CustomDomainRef = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name of the service', examples: ['api'] }),
  domain: z
    .string()
    .min(1)
    .meta({ description: 'The custom domain', examples: ['www.example.org'] }),
})

export const ScaleInput = z.strictObject({ instances: InstanceCount }).meta({ id: 'ScaleInput' })

export const INSTANCE_STATES = ['starting', 'running', 'failing', 'draining', 'exited'] as const

export const ServiceStatus = z
  .object({
    state: z.enum(SERVICE_STATES).meta({ examples: ['running'] }),
    live_deploy_id: idSchema('deploy').nullable(),
    instances: z.array(
      z.object({
        name: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80-1a2b3'] }),
        state: z.enum(INSTANCE_STATES).meta({ examples: ['running'] }),
        health: z.enum(['healthy', 'unhealthy', 'unknown']).meta({ examples: ['healthy'] }),
        started_at: Timestamp.nullable(),
        restarts: z.int().meta({ examples: [0] }),
        exit_code: z
          .int()
          .nullable()
          .meta({ description: 'Of the last exit', examples: [null] }),
        reason: z
          .string()
          .nullable()
          .meta({
            description: 'Why it is not healthy, what its start waits for, or why it last ended',
            examples: [null],
          }),
        cpu_percent: z
          .number()
          .nullable()
          .meta({ description: '100 is one core', examples: [1.5] }),
        memory_bytes: z
          .int()
          .nullable()
          .meta({ examples: [52428800] }),
      }),
    ),
  })
  .meta({ id: 'ServiceStatus' })
export type ServiceStatus = z.infer<typeof ServiceStatus>
