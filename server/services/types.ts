/** The types of services. */
export const SERVICE_TYPES = [
  'web_service',
  'private_service',
  'background_worker',
  'static_site',
  'cron_job',
] as const
export type ServiceType = (typeof SERVICE_TYPES)[number]

/** Maximum number of instances of one service. */
export const MAX_INSTANCES = 32

interface TypeFacts {
  /** The name used in messages. */
  label: string
  /** Whether the data plane serves it at hosts of its own. */
  hasHosts: boolean
  /** Whether its program listens on a port, so that it has a name and a port inside its environment. */
  listens: boolean
  /** Whether containers run as long as it is live. */
  hasInstances: boolean
}

/** All differences between the types, in one place. */
export const TYPES: Record<ServiceType, TypeFacts> = {
  web_service: { label: 'a web service', hasHosts: true, listens: true, hasInstances: true },
  private_service: { label: 'a private service', hasHosts: false, listens: true, hasInstances: true },
  background_worker: { label: 'a background worker', hasHosts: false, listens: false, hasInstances: true },
  static_site: { label: 'a static site', hasHosts: true, listens: false, hasInstances: false },
  cron_job: { label: 'a cron job', hasHosts: false, listens: false, hasInstances: false },
}

/** How many containers of a service with a live program should run. */
export function wantedInstances(service: {
  type: ServiceType
  instances: number
  suspended: number
}): number {
  return TYPES[service.type].hasInstances && !service.suspended ? service.instances : 0
}
