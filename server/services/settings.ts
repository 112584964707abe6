import { posix } from 'node:path'
import { EDGE_FIELDS } from '../edge/columns.ts'
import { AppError } from '../errors.ts'
import { USUAL_SECONDS } from './replacement.ts'
import type { ServiceColumns } from './store.ts'
import { TYPES, type ServiceType } from './types.ts'

type Column = keyof ServiceColumns
type Broken = [field: string, fault: string]

/** A rule between fields: the fields that it looks at, and what is wrong with one of them. */
interface Rule {
  fields: readonly Column[]
  broken: (row: ServiceColumns, type: ServiceType) => Broken | null
}

function rule<Field extends Column>(
  fields: Field[],
  broken: (row: Pick<ServiceColumns, Field>, type: ServiceType) => Broken | null,
): Rule {
  return { fields, broken }
}

/** What a service can ask only for requests that an instance of its answers. */
const OF_INSTANCES = ['session_affinity', 'upstream_timeout_seconds', 'max_body_mb'] as const

/** Runtimes of a cron job whose image may have a command of its own. */
const BRING_COMMAND = new Set(['auto', 'docker', 'image'])

const RULES: Rule[] = [
  rule(['repo_url', 'image'], ({ repo_url, image }) =>
    repo_url && image
      ? ['image', 'a service has a repository or an image, not both: clear the other one']
      : null,
  ),
  rule(['runtime', 'image'], ({ runtime, image }) =>
    runtime === 'image' && !image ? ['runtime', 'image requires the field image'] : null,
  ),
  rule(['runtime', 'image'], ({ runtime, image }) =>
    image && runtime !== 'image' && runtime !== 'auto'
      ? ['runtime', `must be image or auto for a service with an image, not ${runtime}`]
      : null,
  ),
  rule(['runtime'], ({ runtime }, type) =>
    runtime === 'static' && type !== 'static_site'
      ? ['runtime', `static is for static sites, not for ${TYPES[type].label}`]
      : null,
  ),
  rule(['root_dir', 'dockerfile_path'], ({ root_dir, dockerfile_path }) =>
    dockerfile_path && posix.join(root_dir ?? '', dockerfile_path).startsWith('../')
      ? ['dockerfile_path', 'must not leave the source tree (..)']
      : null,
  ),
  rule(['port'], ({ port }, type) =>
    port && !TYPES[type].listens ? ['port', `${TYPES[type].label} listens on no port`] : null,
  ),
  rule(['health_check_path'], ({ health_check_path }, type) =>
    health_check_path && !TYPES[type].listens
      ? ['health_check_path', `${TYPES[type].label} is not probed over HTTP`]
      : null,
  ),
  rule(['publish_dir'], ({ publish_dir }, type) =>
    publish_dir && type !== 'static_site'
      ? ['publish_dir', `${TYPES[type].label} does not publish a folder`]
      : null,
  ),
  rule(['schedule'], ({ schedule }, type) =>
    schedule && type !== 'cron_job' ? ['schedule', `${TYPES[type].label} has no schedule`] : null,
  ),
  rule(['schedule'], ({ schedule }, type) =>
    type === 'cron_job' && !schedule ? ['schedule', 'is required for a cron job, such as 0 3 * * *'] : null,
  ),
  rule(['start_command', 'runtime'], ({ start_command, runtime }, type) =>
    type === 'cron_job' && !start_command && !BRING_COMMAND.has(runtime!)
      ? ['start_command', `is required for a cron job with the runtime ${runtime}`]
      : null,
  ),
  rule(['pre_deploy_command'], ({ pre_deploy_command }, type) =>
    pre_deploy_command && type === 'static_site'
      ? ['pre_deploy_command', 'a static site has no container to run it in: use build_command']
      : null,
  ),
  rule(['custom_domains'], ({ custom_domains }, type) =>
    custom_domains && custom_domains !== '[]' && !TYPES[type].hasHosts
      ? ['custom_domains', `${TYPES[type].label} has no public address`]
      : null,
  ),
  rule(['canonical_domain', 'custom_domains'], ({ canonical_domain, custom_domains }) =>
    canonical_domain && !(JSON.parse(custom_domains ?? '[]') as string[]).includes(canonical_domain)
      ? ['canonical_domain', `${canonical_domain} is not one of custom_domains`]
      : null,
  ),
  rule(['compression'], ({ compression }, type) =>
    compression && !(TYPES[type].hasHosts && TYPES[type].listens)
      ? ['compression', `${TYPES[type].label} has no answers to compress`]
      : null,
  ),
  rule(['max_shutdown_delay_seconds'], ({ max_shutdown_delay_seconds = USUAL_SECONDS }, type) =>
    max_shutdown_delay_seconds !== USUAL_SECONDS && !TYPES[type].hasInstances
      ? ['max_shutdown_delay_seconds', `${TYPES[type].label} has no program that keeps running`]
      : null,
  ),
  rule(['drain_seconds'], ({ drain_seconds = USUAL_SECONDS }, type) =>
    drain_seconds !== USUAL_SECONDS && !(TYPES[type].hasHosts && TYPES[type].listens)
      ? ['drain_seconds', `${TYPES[type].label} has no requests that the server could let finish`]
      : null,
  ),
  rule(['disk_mount_path'], ({ disk_mount_path }, type) =>
    disk_mount_path && !TYPES[type].hasInstances
      ? ['disk_mount_path', `${TYPES[type].label} has no disk`]
      : null,
  ),
  rule(['disks'], ({ disks = '[]' }, type) =>
    disks !== '[]' && !TYPES[type].hasInstances ? ['disks', `${TYPES[type].label} has no disk`] : null,
  ),
  rule(['disk_backup_schedule'], ({ disk_backup_schedule }, type) =>
    disk_backup_schedule && !TYPES[type].hasInstances
      ? ['disk_backup_schedule', `${TYPES[type].label} has no disk`]
      : null,
  ),
  rule(['disk_mount_path', 'disks', 'instances'], ({ disk_mount_path, disks = '[]', instances }) =>
    (disk_mount_path || disks !== '[]') && instances! > 1
      ? ['instances', 'a service with a disk runs at most one instance']
      : null,
  ),
  rule(['placement', 'disks'], ({ placement, disks = '[]' }) =>
    placement && disks !== '[]'
      ? ['placement', 'a service with a disk runs on the node of its disk: set node instead']
      : null,
  ),
  rule(['placement'], ({ placement }, type) =>
    placement && type === 'static_site'
      ? ['placement', `${TYPES[type].label} has no instances that run anywhere`]
      : null,
  ),
  rule(['instances'], ({ instances }, type) =>
    instances !== 1 && !TYPES[type].hasInstances
      ? ['instances', `${TYPES[type].label} cannot be scaled`]
      : null,
  ),
  ...EDGE_FIELDS.map((field) =>
    rule([field], ({ [field]: value }, type) =>
      value && !TYPES[type].hasHosts ? [field, `${TYPES[type].label} has no public address`] : null,
    ),
  ),
  ...OF_INSTANCES.map((field) =>
    rule([field], ({ [field]: value }, type) =>
      value && TYPES[type].hasHosts && !TYPES[type].listens
        ? [field, `${TYPES[type].label} has no instances that answer requests`]
        : null,
    ),
  ),
]

/**
 * All rules that the settings of a service would break if saved: the field, and what is wrong with it. Rules that look at
 * one of the `unknown` fields are skipped.
 */
export function settingFaults(
  row: ServiceColumns,
  type: ServiceType,
  unknown: ReadonlySet<string> = new Set(),
): Broken[] {
  return RULES.filter(({ fields }) => !fields.some((field) => unknown.has(field)))
    .map(({ broken }) => broken(row, type))
    .filter((broken) => broken !== null)
}

/** Checks the settings of a service before they are saved. Throws `invalid_request` with the first broken rule. */
export function assertSettings(row: ServiceColumns, type: ServiceType): void {
  const [broken] = settingFaults(row, type)
  if (broken) throw new AppError('invalid_request', `${broken[0]}: ${broken[1]}`)
}
