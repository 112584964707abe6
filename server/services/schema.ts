import { z } from 'zod'
import { reachable, secret } from '../access/shown.ts'
import { Deploy } from '../deploys/schema.ts'
import { DiskRestore, KeptDisk } from '../disks/schema.ts'
import { edgeFields } from '../edge/schema.ts'
import { Move } from '../moves/schema.ts'
import { PlacementView } from '../nodes/schema.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { Job } from '../jobs/schema.ts'
import { OVERLAP_POLICIES } from './replacement.ts'
import { SERVICE_TYPES } from './types.ts'

/**
 * How an image is made: `auto` looks for a Dockerfile, then for a language; naming a language skips that; `static` takes a
 * site's files as they are.
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

const optional = (example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ examples: [example] })

export const Service = reachable(
  z
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
      registry_credential: optional(null).meta({
        description:
          'Name of the registry credential that its images are pulled with; null chooses by host and path',
      }),
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
      disks: z
        .array(z.object({ name: z.string(), mount_path: z.string() }))
        .meta({ examples: [[{ name: 'data', mount_path: '/data' }]] }),
      disk_mount_path: optional('/data').meta({ description: 'That of its first disk' }),
      disk_backup_schedule: optional('0 3 * * *').meta({
        description: 'When backups of its disks are made automatically, in UTC',
      }),
      disk_backup_retention: z
        .int()
        .meta({ description: 'How many backups of each disk are kept', examples: [7] }),
      instances: z.int().meta({ examples: [1] }),
      memory_limit_mb: z
        .int()
        .meta({ description: 'MiB as requested; 0 is the server default', examples: [0] }),
      cpu_limit: z
        .number()
        .meta({ description: 'CPUs as requested; 0 is the server default', examples: [0] }),
      apt_packages: z
        .array(z.string())
        .meta({ description: 'Debian packages for build and program', examples: [['ffmpeg']] }),
      auto_deploy: z.boolean().meta({ examples: [true] }),
      suspended: z.boolean().meta({ examples: [false] }),
      custom_domains: z.array(z.string()).meta({ examples: [[]] }),
      watch_paths: z
        .array(z.string())
        .nullable()
        .meta({ description: 'Which files a push must change to deploy it; null is any', examples: [null] }),
      canonical_domain: optional(null).meta({
        description: 'The custom domain to which requests to the others are redirected',
      }),
      compression: z.boolean().meta({
        description: 'Whether its answers are compressed for clients that accept it',
        examples: [false],
      }),
      ...edgeFields,
      max_shutdown_delay_seconds: z.int().meta({ description: 'From SIGTERM to SIGKILL', examples: [30] }),
      drain_seconds: z.int().meta({
        description: 'How long requests to an instance may last after it left rotation',
        examples: [30],
      }),
      overlap_policy: z.enum(OVERLAP_POLICIES).meta({ examples: ['wait'] }),
      deploy_hook_key: secret(z.string()).meta({ examples: ['5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e'] }),
      live_deploy_id: idSchema('deploy').nullable(),
      created_at: Timestamp,
      updated_at: Timestamp,
      settings_updated_at: Timestamp.meta({
        description: 'When something was last changed that containers get only with a deploy or restart',
      }),
      deploy_hook_path: secret(z.string()).meta({
        examples: ['/hooks/deploy/srv-4f1d0c9a7b3e5d2f6a80?key=5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e'],
      }),
      env_groups: z.array(z.string()).meta({
        description: 'Names of the linked env groups, in the order of the links',
        examples: [['shared']],
      }),
      hosts: z
        .array(z.string())
        .meta({ description: 'All hosts at which it is served', examples: [['api.localhost']] }),
      internal_host: z
        .string()
        .nullable()
        .meta({ examples: ['api'] }),
      internal_port: z
        .int()
        .nullable()
        .meta({ examples: [10000] }),
      placement: PlacementView.nullable().meta({ description: 'Null for any node' }),
      node: idSchema('node').nullable().meta({ description: 'The node of its disks; null without one' }),
      node_name: optional('worker-1'),
      move: Move.nullable().meta({ description: 'The last move to another node with its disks' }),
      disk_restore: DiskRestore.nullable().meta({ description: 'The last restore of one of its disks' }),
      disk_kept_volumes: z
        .array(KeptDisk)
        .meta({ description: 'What restores of its disks recently replaced, newest first' }),
      latest_deploy: Deploy.nullable(),
      last_run: Job.nullable().meta({ description: 'The newest ended run of a cron job' }),
      state: z.enum(SERVICE_STATES).meta({ examples: ['running'] }),
      url: optional('http://api.localhost'),
    })
    .meta({ id: 'Service', description: 'An application that the server builds and runs' }),
  (service, reach) => (reach.service(service.id) ? service : undefined),
)
export type Service = z.infer<typeof Service>

export const CustomDomains = z.array(z.string()).meta({ examples: [['www.example.org']] })

const INSTANCE_STATES = ['starting', 'running', 'failing', 'draining', 'exited'] as const

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
          .meta({ description: 'Exit code of the last exit', examples: [null] }),
        reason: z
          .string()
          .nullable()
          .meta({
            description: 'Why it is not healthy, what its start waits for, or why it last stopped',
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
        node: idSchema('node'),
        node_name: optional('worker-1').meta({ description: 'Null for a node that is gone' }),
      }),
    ),
  })
  .meta({ id: 'ServiceStatus' })
export type ServiceStatus = z.infer<typeof ServiceStatus>
