import { AppError } from '../errors.ts'
import type { ServiceColumns } from './store.ts'
import { TYPES, type ServiceType } from './types.ts'

type Rule = (row: ServiceColumns, type: ServiceType) => [field: string, fault: string] | null

/** Runtimes of a cron job whose image may bring the command itself. */
const BRING_COMMAND = new Set(['auto', 'docker', 'image'])

/** Rules between fields; each answers the field and what is wrong with it, or null. */
const RULES: Rule[] = [
  ({ repo_url, image }) =>
    repo_url && image
      ? ['image', 'a service has a repository or an image, not both: clear the other one']
      : null,
  ({ runtime, image }) => (runtime === 'image' && !image ? ['runtime', 'image needs the field image'] : null),
  ({ runtime, image }) =>
    image && runtime !== 'image' && runtime !== 'auto'
      ? ['runtime', `must be image or auto for a service with an image, not ${runtime}`]
      : null,
  ({ runtime }, type) =>
    runtime === 'static' && type !== 'static_site'
      ? ['runtime', `static is for static sites, not for ${TYPES[type].label}`]
      : null,
  ({ port }, type) =>
    port && !TYPES[type].listens ? ['port', `${TYPES[type].label} listens on no port`] : null,
  ({ health_check_path }, type) =>
    health_check_path && !TYPES[type].listens
      ? ['health_check_path', `${TYPES[type].label} is not probed over HTTP`]
      : null,
  ({ publish_dir }, type) =>
    publish_dir && type !== 'static_site'
      ? ['publish_dir', `${TYPES[type].label} publishes no folder`]
      : null,
  ({ schedule }, type) =>
    schedule && type !== 'cron_job' ? ['schedule', `${TYPES[type].label} has no schedule`] : null,
  ({ schedule }, type) =>
    type === 'cron_job' && !schedule ? ['schedule', 'a cron job needs one, such as 0 3 * * *'] : null,
  ({ start_command, runtime }, type) =>
    type === 'cron_job' && !start_command && !BRING_COMMAND.has(runtime!)
      ? ['start_command', `a cron job of the runtime ${runtime} needs the command to run`]
      : null,
  ({ pre_deploy_command }, type) =>
    pre_deploy_command && type === 'static_site'
      ? ['pre_deploy_command', 'a static site has no container to run it in: use build_command']
      : null,
  ({ custom_domains }, type) =>
    custom_domains && custom_domains !== '[]' && !TYPES[type].hasHosts
      ? ['custom_domains', `${TYPES[type].label} has no public address`]
      : null,
  ({ canonical_domain, custom_domains }) =>
    canonical_domain && !(JSON.parse(custom_domains ?? '[]') as string[]).includes(canonical_domain)
      ? ['canonical_domain', `${canonical_domain} is none of custom_domains`]
      : null,
  ({ compression }, type) =>
    compression && !(TYPES[type].hasHosts && TYPES[type].listens)
      ? ['compression', `${TYPES[type].label} has no answers to compress`]
      : null,
  ({ disk_mount_path }, type) =>
    disk_mount_path && !TYPES[type].hasInstances
      ? ['disk_mount_path', `${TYPES[type].label} has no disk`]
      : null,
  ({ disk_mount_path, instances }) =>
    disk_mount_path && instances! > 1
      ? ['instances', 'a service with a disk runs at most one instance']
      : null,
  ({ instances }, type) =>
    instances !== 1 && !TYPES[type].hasInstances
      ? ['instances', `${TYPES[type].label} cannot be scaled`]
      : null,
]

/**
 * Every rule that the settings of a service would break as they would be saved: the field, and what is wrong with it.
 * Of rules that ask for one of the `unknown` fields nothing is known.
 */
export function settingFaults(
  row: ServiceColumns,
  type: ServiceType,
  unknown: ReadonlySet<string> = new Set(),
): [field: string, fault: string][] {
  let asks = false
  const read = new Proxy(row, {
    get: (columns, field: keyof ServiceColumns) => {
      asks ||= unknown.has(field)
      return columns[field]
    },
  })
  return RULES.flatMap((rule) => {
    asks = false
    const broken = rule(read, type)
    return broken === null || asks ? [] : [broken]
  })
}

/** Checks the settings of a service as they would be saved. Throws `invalid_request` with the first rule that is broken. */
export function assertSettings(row: ServiceColumns, type: ServiceType): void {
  const [broken] = settingFaults(row, type)
  if (broken) throw new AppError('invalid_request', `${broken[0]}: ${broken[1]}`)
}
