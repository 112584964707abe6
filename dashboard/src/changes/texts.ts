import { plainText } from '../api/plain-text.ts'
import type { Comparison } from '../api/types.ts'
import { disksText } from '../service/disk-lines.ts'
import { runtimeName } from '../service/settings-form.ts'

export type SettingDifference = Comparison['settings'][number]
type SettingValue = SettingDifference['old']

const LABELS: Record<Comparison['unknown'][number], string> = {
  repo_url: 'Repository',
  branch: 'Branch',
  image: 'Image',
  runtime: 'Runtime',
  root_dir: 'Root directory',
  dockerfile_path: 'Dockerfile',
  build_command: 'Build command',
  publish_dir: 'Publish directory',
  apt_packages: 'Debian packages',
  start_command: 'Start command',
  pre_deploy_command: 'Pre-deploy command',
  health_check_path: 'Health check path',
  port: 'Port',
  disks: 'Disks',
  memory_limit_mb: 'Memory limit, MiB',
  cpu_limit: 'CPU limit',
  env: 'Variables',
  env_groups: 'Env groups',
  secret_files: 'Secret files',
}

/** What the forms call a field of a service. */
export function fieldLabel(field: Comparison['unknown'][number]): string {
  return LABELS[field]
}

/** The fields that cannot be compared, in a sentence. */
export function unknownText({ unknown }: Comparison): string {
  const names = unknown.map(fieldLabel).map((label, index) => (index === 0 ? label : lowered(label)))
  const [last, ...others] = names.toReversed()
  return others.length === 0 ? last! : `${others.toReversed().join(', ')} and ${last}`
}

/** A setting's value as a text; null if it is not set. */
export function valueText(field: SettingDifference['field'], value: SettingValue): string | null {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null
  if (value === 0) return 'server default'
  if (field === 'runtime') return runtimeName(value as Parameters<typeof runtimeName>[0])
  if (field === 'disks') return disksText(value as Parameters<typeof disksText>[0])
  return plainText(Array.isArray(value) ? (value as string[]).join(' ') : String(value))
}

/** How many changes there are, in words. */
export function countText(count: number): string {
  return count === 1 ? '1 change' : `${count} changes`
}

/** Names of their own keep their capital letters. */
function lowered(label: string): string {
  return /^(?:Dockerfile|Debian|CPU)/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1)
}
