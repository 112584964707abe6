/** How a service gets its program or files. */
export type ServiceKind = 'image' | 'upload' | 'site' | 'worker' | 'cron'

/** The settings that are compared with what the API shows. */
export interface Settings {
  type: string
  image: string | null
  start_command: string | null
  schedule: string | null
  disk_mount_path: string | null
  instances: number
  memory_limit_mb: number
  suspended: boolean
  custom_domains: string[]
}

export interface DeployRecord {
  /** Null as long as it is unknown whether there is one: the answer was lost. */
  id: string | null
  round: number
  trigger: string
  /** What its program may answer; null is what the start command printed when it was queued, or later. */
  texts: string[] | null
  /** Whether it was asked to be canceled, and whether the server has said that it is. */
  cancel: 'no' | 'asked' | 'done'
  /** Whether it was live when everything was quiet. */
  wasLive: boolean
  /** Whether its end was seen, and found right. */
  isJudged: boolean
}

export interface JobRecord {
  id: string
  round: number
  mayBeCanceled: boolean
  isJudged: boolean
}

export interface ServiceRecord {
  id: string | null
  kind: ServiceKind
  settings: Settings
  variables: Record<string, string>
  groups: string[]
  /** What its start command printed, by the round of the change. */
  printed: { round: number; text: string }[]
  /** Oldest first. */
  deploys: DeployRecord[]
  jobs: JobRecord[]
  diskBackups: string[]
  /** The round of the last call about it. */
  touched: number
  /** What is on its disk since everything was quiet. */
  onDisk: string | null
}

export interface DatastoreRecord {
  id: string | null
  kind: string
  memory_limit_mb: number
  /** What was stored in it when everything was quiet. */
  stored: string | null
}

export interface TokenRecord {
  id: string | null
  /** Null when the answer that contained it was lost. */
  secret: string | null
}

/** What the server has acknowledged; plain data, so that a copy is a `structuredClone`. */
export interface Model {
  environments: string[]
  domains: string[]
  groups: Record<string, Record<string, string>>
  tokens: Record<string, TokenRecord>
  /** By `environment/name`, as services. */
  datastores: Record<string, DatastoreRecord>
  services: Record<string, ServiceRecord>
  serverBackups: string[]
  /** Places whose deletion may not be finished: their names are not free yet. */
  leaving: string[]
  /** Secrets of tokens that were revoked. */
  revoked: string[]
}

export const PRODUCTION = 'production'
export const BASE_DOMAIN = 'localhost'

export function newModel(): Model {
  return {
    environments: [PRODUCTION],
    domains: [BASE_DOMAIN],
    groups: {},
    tokens: {},
    datastores: {},
    services: {},
    serverBackups: [],
    leaving: [],
    revoked: [],
  }
}

export function placeOf(environment: string, name: string): string {
  return `${environment}/${name}`
}

export function splitPlace(place: string): { environment: string; name: string } {
  const [environment = '', name = ''] = place.split('/')
  return { environment, name }
}

/** The hosts at which a service is served. */
export function hostsOf(model: Model, place: string): string[] {
  const { environment, name } = splitPlace(place)
  const label = environment === PRODUCTION ? name : `${name}.${environment}`
  const own = model.services[place]?.settings.custom_domains ?? []
  return [...model.domains.map((domain) => `${label}.${domain}`), ...own]
}

/** Whether requests to a service are answered, by a program or with files. */
export function isWeb({ kind }: ServiceRecord): boolean {
  return kind === 'image' || kind === 'upload' || kind === 'site'
}

/** What the program of a deploy may answer. */
export function textsOf(service: ServiceRecord, deploy: DeployRecord): string[] {
  if (deploy.texts !== null) return deploy.texts
  const before = service.printed.filter(({ round }) => round <= deploy.round).at(-1)
  const after = service.printed.filter(({ round }) => round > deploy.round)
  return [...(before ? [before] : []), ...after].map(({ text }) => text)
}

/**
 * What a restart may answer: the text of any deploy since the last one that was live when everything was quiet; null for a
 * service whose start command says it.
 */
export function restartTexts(service: ServiceRecord): string[] | null {
  return service.kind === 'image' ? null : textsSinceLive(service.deploys)
}

/** What a deploy of the configured source may answer: the same, but only what was uploaded, since an upload is built again. */
export function sourceTexts({ kind, deploys }: ServiceRecord): string[] | null {
  if (kind === 'image') return null
  return textsSinceLive(deploys.filter(({ trigger }) => trigger === 'upload' || trigger === 'manual'))
}

function textsSinceLive(deploys: readonly DeployRecord[]): string[] {
  const since = deploys.findLastIndex(({ wasLive }) => wasLive)
  return deploys.slice(Math.max(0, since)).flatMap(({ texts }) => texts ?? [])
}

/** Records a deploy that was queued, or may have been if `id` is null. */
export function addDeploy(
  service: ServiceRecord,
  deploy: Pick<DeployRecord, 'id' | 'round' | 'trigger' | 'texts'>,
): void {
  service.deploys.push({ ...deploy, cancel: 'no', wasLive: false, isJudged: false })
}
