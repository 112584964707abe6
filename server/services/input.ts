import { z } from 'zod'
import { BackupRetention, BackupSchedule } from '../backups/settings.ts'
import { disksFault, MAX_DISKS } from '../disks/list.ts'
import { DomainName } from '../domains/schema.ts'
import { branchNameFault } from '../git/refs.ts'
import { deployableUrlFault } from '../git/input.ts'
import { repositoryUrlFault } from '../git/url.ts'
import { imageFault } from '../images/reference.ts'
import { deployableImageFault } from '../images/registry.ts'
import { edgeSettings } from '../edge/input.ts'
import { PlacementInput } from '../nodes/schema.ts'
import { CpuLimit, MemoryLimit, Name, text } from '../schema.ts'
import { scheduleFault } from '../jobs/cron.ts'
import { EnvVars } from '../variables/schema.ts'
import {
  APT_PACKAGE,
  dockerfilePathFault,
  healthPathFault,
  normalMountPath,
  mountPathFault,
  relativePathFault,
} from './rules.ts'
import { LONGEST_SECONDS, OVERLAP_POLICIES } from './replacement.ts'
import { RUNTIMES } from './schema.ts'
import { MAX_INSTANCES, SERVICE_TYPES } from './types.ts'
import { watchPathsFault } from './watch-paths.ts'

/** Each one is looked up and gets its own certificate. */
export const MAX_CUSTOM_DOMAINS = 100

/** Each one is matched against each file of a push. */
const MAX_WATCH_PATHS = 50

/** More than any program needs in addition to the base image. */
const MAX_APT_PACKAGES = 50
const MAX_PACKAGE_CHARACTERS = 128

/** The length limit of names. */
const MAX_REFERENCE_CHARACTERS = 63

const MAX_COMMAND_CHARACTERS = 16 * 1024

/** An optional text setting: null or an empty string clears it. `fault` returns what is wrong with a text, or null. */
function setting(maximum: number, fault: (value: string) => string | null = () => null) {
  return text(maximum)
    .nullable()
    .transform(clearedWhenEmpty)
    .superRefine((value, context) => {
      const found = value === null ? null : fault(value)
      if (found) context.addIssue(found)
    })
    .optional()
}

function clearedWhenEmpty(value: string | null): string | null {
  return value === null || value.trim() === '' ? null : value
}

const InstanceCount = z
  .int()
  .min(0)
  .max(MAX_INSTANCES)
  .meta({ examples: [2] })

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
    description: 'Where the program listens; by default its PORT variable, the only EXPOSEd port, or 10000',
    examples: [3000],
  })

/**
 * The address of a repository, checked only for its form. Whether this server may clone it is checked where its options are
 * known.
 */
export const RepositoryAddress = setting(2_048, repositoryUrlFault).meta({
  examples: ['https://git.example.com/team/api.git'],
})

/** An image reference, checked only for its form. */
export const ImageName = setting(1_024, imageFault).meta({ examples: ['registry.example.com/api:2'] })

/** Hosts in a blueprint's file. Each one is checked by itself, when it is applied. */
export const writtenHosts = {
  custom_domains: z.array(text(1_024)).max(MAX_CUSTOM_DOMAINS).optional(),
  canonical_domain: setting(1_024),
}

const MountPath = text(1_024)
  .superRefine((path, context) => {
    const fault = mountPathFault(path)
    if (fault) context.addIssue(fault)
  })
  .transform(normalMountPath)

/** The settings that create and patch have in common. */
const settings = {
  runtime: z
    .enum(RUNTIMES)
    .optional()
    .meta({ examples: ['auto'] }),
  repo_url: setting(2_048, deployableUrlFault).meta({ examples: ['https://git.example.com/team/api.git'] }),
  branch: setting(255, branchNameFault).meta({
    description: "A branch, or a tag if there is no such branch; null is the remote's default branch",
    examples: ['main'],
  }),
  root_dir: setting(1_024, relativePathFault).meta({ examples: ['services/api'] }),
  dockerfile_path: setting(1_024, dockerfilePathFault).meta({ examples: ['Dockerfile'] }),
  image: setting(1_024, deployableImageFault).meta({ examples: ['registry.example.com/api:2'] }),
  registry_credential: setting(MAX_REFERENCE_CHARACTERS).meta({
    description:
      'Id or name of the registry credential for its image and the base images of its builds; null chooses by host and path',
    examples: ['github'],
  }),
  build_command: setting(MAX_COMMAND_CHARACTERS).meta({ examples: ['npm run build'] }),
  start_command: setting(MAX_COMMAND_CHARACTERS).meta({ examples: ['npm start'] }),
  pre_deploy_command: setting(MAX_COMMAND_CHARACTERS).meta({
    description: 'Runs once in the new image before the rollout; if it fails, the deploy fails',
    examples: ['npm run migrate'],
  }),
  publish_dir: setting(1_024, relativePathFault).meta({
    description: 'The folder that a static site publishes, relative to root_dir',
    examples: ['dist'],
  }),
  health_check_path: setting(1_024, healthPathFault).meta({ examples: ['/healthz'] }),
  port: Port,
  schedule: setting(256, scheduleFault).meta({
    description: 'When a cron job runs: five fields, in UTC',
    examples: ['0 3 * * *'],
  }),
  disks: z
    .array(
      z.strictObject({
        name: Name.meta({ examples: ['uploads'] }),
        mount_path: MountPath.meta({ examples: ['/app/uploads'] }),
      }),
    )
    .max(MAX_DISKS)
    .superRefine((disks, context) => {
      const fault = disksFault(disks)
      if (fault) context.addIssue(fault)
    })
    .optional()
    .meta({
      description:
        'The disks of a service, each with where it is mounted inside its container; a service with a disk runs one instance',
      examples: [[{ name: 'data', mount_path: '/data' }]],
    }),
  disk_mount_path: setting(1_024, mountPathFault).meta({
    description: 'Where the first disk is mounted; alone, it gives a service a disk named `data`',
    examples: ['/data'],
  }),
  disk_backup_schedule: BackupSchedule.optional(),
  disk_backup_retention: BackupRetention.optional(),
  apt_packages: z
    .array(AptPackage)
    .max(MAX_APT_PACKAGES)
    .optional()
    .meta({
      description:
        'Debian packages for the build and the program, when a language plan makes the image; an Aptfile adds to them',
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
        "Globs from the repository's root: a push that changes no matching file deploys nothing; null matches all files",
      examples: [['services/api/**', 'package-lock.json']],
    }),
  max_shutdown_delay_seconds: z
    .int()
    .min(1)
    .max(LONGEST_SECONDS)
    .optional()
    .meta({
      description: 'How long its program may take to stop after SIGTERM, before SIGKILL',
      examples: [60],
    }),
  drain_seconds: z
    .int()
    .min(0)
    .max(LONGEST_SECONDS)
    .optional()
    .meta({
      description: 'How long requests to an instance may last after it left rotation, before it is stopped',
      examples: [60],
    }),
  overlap_policy: z
    .enum(OVERLAP_POLICIES)
    .optional()
    .meta({
      description:
        'Whether a new deploy of the source waits for the deploy in progress, or cancels it (`override`), unless that is a rollback',
      examples: ['override'],
    }),
  placement: PlacementInput.nullable()
    .optional()
    .meta({
      description: 'Where its instances may run; holds for what starts from now on, and null is any node',
      examples: [{ labels: { disk: 'ssd' } }],
    }),
  node: setting(MAX_REFERENCE_CHARACTERS).meta({
    description:
      'Id or name of the node of its disks; by default the one with the most unreserved memory. Only a move changes it',
    examples: ['worker-1'],
  }),
  custom_domains: z
    .array(DomainName)
    .max(MAX_CUSTOM_DOMAINS)
    .optional()
    .meta({
      description: 'Custom domains of a web service or static site',
      examples: [['www.example.org']],
    }),
  canonical_domain: text(1_024)
    .nullable()
    .transform(clearedWhenEmpty)
    .pipe(DomainName.nullable())
    .optional()
    .meta({
      description: 'One of its custom domains, to which requests to the others are redirected',
      examples: ['www.example.org'],
    }),
  compression: z
    .boolean()
    .optional()
    .meta({
      description:
        'Compresses the answers of a web service (zstd, br, gzip) when it saves bytes, except answers with Set-Cookie. Leave it off when a page contains a secret next to what its visitor sent (BREACH)',
      examples: [false],
    }),
  ...edgeSettings,
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
    env: EnvVars.optional(),
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
    env: EnvVars.optional().meta({ description: "Becomes the service's own variables" }),
    suspended: z
      .boolean()
      .optional()
      .meta({ examples: [false] }),
  })
  .meta({ id: 'ServicePatch', examples: [{ start_command: 'npm start', health_check_path: '/healthz' }] })
export type ServicePatch = z.infer<typeof ServicePatch>

export const CustomDomainInput = z
  .strictObject({ domain: DomainName.meta({ examples: ['www.example.org'] }) })
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
