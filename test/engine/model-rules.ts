/** Variables by key, in their order. */
export type Variables = Map<string, string>

/** A service as far as the model covers it. */
export interface Service {
  /** Distinguishes a service from a later one of the same name. */
  birth: number
  type: string
  port: number | null
  schedule: string | null
  instances: number
  disk_mount_path: string | null
  memory_limit_mb: number
  start_command: string | null
  suspended: boolean
  custom_domains: string[]
}

/** A service with what belongs to it; `groups` are names. */
export interface Kept {
  fields: Service
  variables: Variables
  groups: string[]
}

/** Where a service is looked for. */
export interface Place {
  environment: string
  name: string
}

/** A variable as requests give it. */
export interface Variable {
  key: string
  value: string
}

export const INVALID = 400
export const UNKNOWN = 404

const KEY = /^(?!DEPLOYER_)[A-Za-z_]\w*$/
export const HAS_PORT = ['web_service', 'private_service']
const HAS_HOSTS = ['web_service', 'static_site']
/** And can be scaled. */
const HAS_DISK = ['web_service', 'private_service', 'background_worker']

/** Ends a change of the model, with the status of its request. */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number) {
    super(String(status))
    this.status = status
  }
}

/** A list of variables as they are stored; refused if one is not a variable or is given more than once. */
export function listed(given: Variable[]): Variables {
  refuse(
    INVALID,
    given.some(({ key, value }) => !KEY.test(key) || value.includes('\0') || value.includes('${{nothing')),
  )
  refuse(INVALID, new Set(given.map(({ key }) => key)).size < given.length)
  return new Map(given.map(({ key, value }) => [key, value]))
}

/** Variables with some set and some removed. */
export function patched(old: Variables, set: Variable[], unset: string[]): Variables {
  const written = listed(set)
  refuse(
    INVALID,
    unset.some((key) => written.has(key)),
  )
  return new Map([...old, ...written].filter(([key]) => !unset.includes(key)))
}

/** Refuses a change of variables that is wrong by itself, whatever it would change. */
export function judged(change: (old: Variables) => Variables): void {
  change(new Map())
}

/** Whether a field is wrong by itself. */
export function hasBadValue({
  port,
  instances,
  disk_mount_path: disk,
  memory_limit_mb: memory,
}: Partial<Service>): boolean {
  return (
    (typeof port === 'number' && (port < 1 || port > 65_535)) ||
    (instances ?? 0) < 0 ||
    (typeof disk === 'string' && !disk.startsWith('/')) ||
    (memory !== undefined && memory !== 0 && (memory < 16 || memory > 1024 ** 2))
  )
}

/** Whether fields are wrong by themselves or against each other. */
export function hasFault(service: Service): boolean {
  const { type, port, schedule, instances, disk_mount_path: disk, custom_domains: hosts } = service
  return (
    hasBadValue(service) ||
    (port !== null && !HAS_PORT.includes(type)) ||
    (schedule !== null) !== (type === 'cron_job') ||
    (instances !== 1 && !HAS_DISK.includes(type)) ||
    (disk !== null && (!HAS_DISK.includes(type) || instances > 1)) ||
    (hosts.length > 0 && !HAS_HOSTS.includes(type))
  )
}

/** The key of a service in the model. */
export function placeOf({ environment, name }: Place): string {
  return `${environment}/${name}`
}

/** Refuses if a condition holds. */
export function refuse(status: number, when: boolean): void {
  if (when) throw new Refusal(status)
}

/** Returns the value; refused if there is none. */
export function found<T>(item: T | undefined): T {
  if (item === undefined) throw new Refusal(UNKNOWN)
  return item
}
