import type { Service } from '../api/types.ts'
import { takesField, type SettingsForm, type SourceKind } from './settings-form.ts'
import { sourceKind } from './state.ts'
import { SERVICE_TYPE } from './type.ts'

export interface SettingsField {
  /** Its name in the API. */
  name: string
  /** As the page shows it. */
  label: string
}

/** A part of a service's settings, which an address names by its id. */
export interface SettingsSection {
  id: string
  label: string
  /** The page of the service that it is on. */
  path: string
  /** Whether it is saved with the others of the page's form. */
  isForm: boolean
  fields: SettingsField[]
}

interface Place extends Omit<SettingsSection, 'fields' | 'isForm'> {
  /** Labels by name. */
  fields: Record<string, string>
  /** Whether a service has it; otherwise it has the fields that its type and source take. */
  has?: (service: Service) => boolean
}

/** `settings#build` is the section `build` of the page `settings`. */
function place(address: string, label: string, fields: Place['fields'], has?: Place['has']): Place {
  const [path, id] = address.split('#') as [string, string]
  return { id, label, path, fields, ...(has && { has }) }
}

const hasHosts = ({ type }: Service) => SERVICE_TYPE[type].hasHosts
const hasInstances = ({ type }: Service) => SERVICE_TYPE[type].hasInstances
const always = () => true

const PLACES: Place[] = [
  place('settings#source', 'Source', {
    repo_url: 'Repository address',
    branch: 'Branch',
    auto_deploy: 'Deploy on push',
    image: 'Image',
    registry_credential: 'Registry credential',
  }),
  place('settings#build', 'Build', {
    runtime: 'Runtime',
    root_dir: 'Root directory',
    dockerfile_path: 'Dockerfile',
    build_command: 'Build command',
    apt_packages: 'Debian packages',
    publish_dir: 'Publish directory',
    registry_credential: 'Registry credential',
  }),
  place('settings#start', 'Start', {
    start_command: 'Start command',
    schedule: 'Schedule',
    pre_deploy_command: 'Pre-deploy command',
    port: 'Port',
  }),
  place('settings#health', 'Health check', { health_check_path: 'Health check path' }),
  place('settings#resources', 'Disk and limits', {
    disks: 'Disk',
    memory_limit_mb: 'Memory limit, MiB',
    cpu_limit: 'CPU limit',
  }),
  place('settings#rollout', 'Rollout', {
    overlap_policy: 'Overlapping deploys',
    drain_seconds: 'Time for open requests, seconds',
    max_shutdown_delay_seconds: 'Time to stop, seconds',
  }),
  place('settings#responses', 'Responses', { compression: 'Compress responses' }),
  place(
    'settings#custom-domains',
    'Custom domains',
    { custom_domains: 'Add a domain', canonical_domain: 'Canonical domain' },
    ({ url }) => url !== null,
  ),
  place(
    'settings#watched',
    'Watched paths',
    { watch_paths: 'Deploy on push when one of these changes' },
    (service) => sourceKind(service) === 'git',
  ),
  place('settings#hook', 'Deploy hook', { deploy_hook_path: 'Deploy hook' }, always),
  place('settings#name', 'Name', { name: 'Name' }, always),
  place('settings#danger', 'Delete', {}, always),
  place('variables#variables', 'Environment variables', { env: 'Environment variables' }, always),
  place('variables#secret-files', 'Secret files', { secret_files: 'Secret files' }, always),
  place('variables#group-variables', 'Env groups', { env_groups: 'Link an env group' }, always),
  place(
    'edge#access',
    'Access',
    { ip_allow_list: 'Only for some addresses', basic_auth: 'Users with a password' },
    hasHosts,
  ),
  place(
    'edge#maintenance',
    'Maintenance',
    { maintenance: 'Show a maintenance page instead of the service' },
    hasHosts,
  ),
  place(
    'edge#paths',
    'Redirects and headers',
    { redirects: 'Redirects', headers: 'Headers of answers' },
    hasHosts,
  ),
  place(
    'edge#limits',
    'Limits and log',
    { rate_limit: 'Requests', access_log: 'Log each request' },
    hasHosts,
  ),
  place(
    'edge#limits',
    'Limits and log',
    {
      upstream_timeout_seconds: 'Wait for an answer (s)',
      max_body_mb: 'Largest request body (MiB)',
      session_affinity: 'Keep a client at the same instance',
    },
    (service) => hasHosts(service) && hasInstances(service),
  ),
  place(
    'disk#backup-schedule',
    'Backups of its disk',
    { disk_backup_schedule: 'Schedule', disk_backup_retention: 'Backups kept' },
    ({ disk_mount_path }) => disk_mount_path !== null,
  ),
  place('#instances', 'Instances', { instances: 'Instances' }, hasInstances),
]

/** What can be set for a service, section by section, on whichever of its pages. */
export function settingsOf(service: Service): SettingsSection[] {
  const kind = sourceKind(service)
  return PLACES.flatMap(({ has, fields, ...rest }): SettingsSection[] => {
    const given = Object.entries(fields).map(([name, label]) => ({
      name,
      label: labelOf(service, name, label),
    }))
    if (has) return has(service) ? [{ ...rest, isForm: false, fields: given }] : []
    const taken = given.filter(
      ({ name }) => takesField(name as keyof SettingsForm, service.type, kind) && isAt(name, rest.id, kind),
    )
    return taken.length > 0 ? [{ ...rest, isForm: true, fields: taken }] : []
  })
}

/** The sections of the page of settings, which has the others beside it. */
export function sectionsOnPage(service: Service): SettingsSection[] {
  return settingsOf(service).filter(({ path }) => path === 'settings')
}

/** A setting with where it is. */
export interface FoundSetting extends SettingsField {
  section: SettingsSection
}

/** The settings with every word in their label, their name in the API or their section. */
export function findSettings(sections: readonly SettingsSection[], query: string): FoundSetting[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return sections
    .flatMap((section) => section.fields.map((field) => ({ ...field, section })))
    .filter(({ label, name, section }) => {
      const text = `${label} ${name} ${section.label}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
}

/** A build pulls its base images with the credential; otherwise it belongs to the image. */
function isAt(name: string, section: string, kind: SourceKind): boolean {
  return name !== 'registry_credential' || section === (kind === 'image' ? 'source' : 'build')
}

function labelOf({ type }: Service, name: string, label: string): string {
  return name === 'start_command' && type === 'cron_job' ? 'Command' : label
}
