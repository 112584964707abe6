import type { Runtime, Service, ServiceInput, ServicePatch, ServiceType } from '../api/types.ts'
import { disksIn, disksText } from './disk-lines.ts'
import { SERVICE_TYPE } from './type.ts'

/** The settings of a service as form fields hold them: texts, empty for "not set". */
export type SettingsForm = {
  repo_url: string
  branch: string
  image: string
  /** Its name. */
  registry_credential: string
  runtime: Runtime
  root_dir: string
  dockerfile_path: string
  build_command: string
  start_command: string
  pre_deploy_command: string
  publish_dir: string
  schedule: string
  /** A name and a path a line; see `disk-lines.ts`. */
  disks: string
  health_check_path: string
  port: string
  memory_limit_mb: string
  cpu_limit: string
  /** Names separated by spaces. */
  apt_packages: string
  auto_deploy: boolean
  compression: boolean
  overlap_policy: Service['overlap_policy']
  drain_seconds: string
  max_shutdown_delay_seconds: string
}

/** What an empty period means. */
const USUAL_SECONDS = 30

/** Fields that can show their own errors. */
export const SETTINGS_FIELDS = Object.keys(emptyForm())

export type SourceKind = 'git' | 'image' | 'archive'

const RUNTIMES: Record<Runtime, string> = {
  auto: 'Detect (Dockerfile or language)',
  docker: 'Dockerfile',
  image: 'Container image',
  static: 'Files as they are',
  node: 'Node.js',
  bun: 'Bun',
  deno: 'Deno',
  python: 'Python',
  go: 'Go',
  ruby: 'Ruby',
  rust: 'Rust',
  php: 'PHP',
  java: 'Java',
  elixir: 'Elixir',
  scala: 'Scala',
  clojure: 'Clojure',
  dotnet: '.NET',
  gleam: 'Gleam',
  cpp: 'C and C++',
  shell: 'Shell script',
}

/** What a runtime is called. */
export function runtimeName(runtime: Runtime): string {
  return RUNTIMES[runtime]
}

/** How a runtime reads for a type: a Dockerfile of a static site is used only on request. */
export function runtimeLabel(runtime: Runtime, type: ServiceType): string {
  return runtime === 'auto' && type === 'static_site' ? 'Detect (a build or plain files)' : RUNTIMES[runtime]
}

/** Runtimes that can be chosen for what is built here. */
export function buildRuntimes(type: ServiceType): Runtime[] {
  return (Object.keys(RUNTIMES) as Runtime[]).filter(
    (runtime) => runtime !== 'image' && (runtime !== 'static' || type === 'static_site'),
  )
}

export function emptyForm(): SettingsForm {
  return {
    repo_url: '',
    branch: '',
    image: '',
    registry_credential: '',
    runtime: 'auto',
    root_dir: '',
    dockerfile_path: '',
    build_command: '',
    start_command: '',
    pre_deploy_command: '',
    publish_dir: '',
    schedule: '',
    disks: '',
    health_check_path: '',
    port: '',
    memory_limit_mb: '',
    cpu_limit: '',
    apt_packages: '',
    auto_deploy: true,
    compression: false,
    overlap_policy: 'wait',
    drain_seconds: '',
    max_shutdown_delay_seconds: '',
  }
}

export function formOf(service: Service): SettingsForm {
  const limit = (value: number) => (value === 0 ? '' : String(value))
  const period = (value: number) => (value === USUAL_SECONDS ? '' : String(value))
  return {
    repo_url: service.repo_url ?? '',
    branch: service.branch ?? '',
    image: service.image ?? '',
    registry_credential: service.registry_credential ?? '',
    runtime: service.runtime,
    root_dir: service.root_dir ?? '',
    dockerfile_path: service.dockerfile_path ?? '',
    build_command: service.build_command ?? '',
    start_command: service.start_command ?? '',
    pre_deploy_command: service.pre_deploy_command ?? '',
    publish_dir: service.publish_dir ?? '',
    schedule: service.schedule ?? '',
    disks: disksText(service.disks),
    health_check_path: service.health_check_path ?? '',
    port: service.port === null ? '' : String(service.port),
    memory_limit_mb: limit(service.memory_limit_mb),
    cpu_limit: limit(service.cpu_limit),
    apt_packages: service.apt_packages.join(' '),
    auto_deploy: service.auto_deploy,
    compression: service.compression,
    overlap_policy: service.overlap_policy,
    drain_seconds: period(service.drain_seconds),
    max_shutdown_delay_seconds: period(service.max_shutdown_delay_seconds),
  }
}

/** The fields as the API takes them: an empty text clears, an empty limit means the default of the server. */
function wireOf(form: SettingsForm): Required<Pick<ServicePatch, keyof SettingsForm>> {
  const {
    port,
    memory_limit_mb,
    cpu_limit,
    apt_packages,
    disks,
    drain_seconds,
    max_shutdown_delay_seconds,
    ...rest
  } = form
  const period = (text: string) => (text === '' ? USUAL_SECONDS : Number(text))
  const texts = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value]),
  ) as typeof rest
  return {
    ...texts,
    disks: disksIn(disks),
    // Files that are served as they are have no build.
    ...(form.runtime === 'static' && { build_command: '' }),
    port: port === '' ? null : Number(port),
    memory_limit_mb: Number(memory_limit_mb),
    cpu_limit: Number(cpu_limit),
    drain_seconds: period(drain_seconds),
    max_shutdown_delay_seconds: period(max_shutdown_delay_seconds),
    apt_packages: apt_packages.split(/[\s,]+/).filter((name) => name !== ''),
  }
}

/** The changes of a form, so that saving touches nothing else. */
export function patchOf(before: SettingsForm, after: SettingsForm): ServicePatch {
  const [from, to] = [wireOf(before), wireOf(after)]
  const names = Object.keys(to) as (keyof SettingsForm)[]
  return Object.fromEntries(
    names.filter((name) => !isSame(to[name], from[name])).map((name) => [name, to[name]]),
  )
}

/** Lists are equal only in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return Array.isArray(one) ? JSON.stringify(one) === JSON.stringify(other) : one === other
}

/** The body that creates a service: fields of other sources and types, and what was left empty, are not sent. */
export function inputOf(
  form: SettingsForm,
  type: ServiceType,
  source: SourceKind,
): Omit<ServiceInput, 'name'> {
  const wire = wireOf(form)
  const fields = Object.fromEntries(
    Object.entries(wire).filter(([name, value]) => {
      if (
        value === '' ||
        value === null ||
        value === 0 ||
        (name === 'compression' && !value) ||
        (REPLACEMENT_FIELDS.includes(name) &&
          isSame(value, wireOf(emptyForm())[name as keyof SettingsForm])) ||
        isSame(value, [])
      )
        return false
      return takesField(name as keyof SettingsForm, type, source)
    }),
  ) as Omit<ServiceInput, 'name'>
  return { ...fields, type, ...(source === 'image' && { runtime: 'image' as const }) }
}

const BUILD_FIELDS: readonly (keyof SettingsForm)[] = [
  'root_dir',
  'dockerfile_path',
  'build_command',
  'runtime',
  'apt_packages',
]
/** How a version makes room for the next one. */
const REPLACEMENT_FIELDS: readonly string[] = [
  'overlap_policy',
  'drain_seconds',
  'max_shutdown_delay_seconds',
]
/** Settings that apply only to a container of the service. */
const CONTAINER_FIELDS: readonly (keyof SettingsForm)[] = [
  'start_command',
  'pre_deploy_command',
  'memory_limit_mb',
  'cpu_limit',
]

/** Whether a field means anything for this type and source. */
export function takesField(field: keyof SettingsForm, type: ServiceType, source: SourceKind): boolean {
  if (field === 'repo_url' || field === 'branch' || field === 'auto_deploy') return source === 'git'
  if (field === 'compression' || field === 'drain_seconds') return type === 'web_service'
  if (field === 'image') return source === 'image'
  if (BUILD_FIELDS.includes(field)) return source !== 'image'
  if (CONTAINER_FIELDS.includes(field)) return type !== 'static_site'
  if (field === 'publish_dir') return type === 'static_site'
  if (field === 'schedule') return type === 'cron_job'
  if (field === 'disks' || field === 'max_shutdown_delay_seconds') return SERVICE_TYPE[type].hasInstances
  if (field === 'port' || field === 'health_check_path') return SERVICE_TYPE[type].listens
  return true
}
