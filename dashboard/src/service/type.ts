import type { Service, ServiceType } from '../api/types.ts'

interface TypePresentation {
  label: string
  meaning: string
  /** It has a public address. */
  hasHosts: boolean
  /** Its program listens on a port. */
  listens: boolean
  /** Containers run while it is live. */
  hasInstances: boolean
  /** Its image can run commands. */
  runsJobs: boolean
  /** What suspending it does. */
  suspension: string
  /** What it means when no instance runs, for types that have instances. */
  atZero?: string
}

const UNANSWERED = 'Requests are refused until you scale it up again.'
const STOPS = 'Its containers stop, and it does not answer requests until you resume it.'

/** How each type of service reads, and what its pages show. */
export const SERVICE_TYPE: Record<ServiceType, TypePresentation> = {
  web_service: {
    label: 'Web service',
    meaning: 'Serves HTTP at a public address.',
    hasHosts: true,
    listens: true,
    hasInstances: true,
    runsJobs: true,
    suspension: STOPS,
    atZero: UNANSWERED,
  },
  private_service: {
    label: 'Private service',
    meaning: 'Reachable only by your other services.',
    hasHosts: false,
    listens: true,
    hasInstances: true,
    runsJobs: true,
    suspension: STOPS,
    atZero: UNANSWERED,
  },
  background_worker: {
    label: 'Background worker',
    meaning: 'Runs without serving requests.',
    hasHosts: false,
    listens: false,
    hasInstances: true,
    runsJobs: true,
    suspension: 'Its containers stop until you resume it.',
    atZero: 'No work is done until you scale it up again.',
  },
  static_site: {
    label: 'Static site',
    meaning: 'Serves files, without running a program.',
    hasHosts: true,
    listens: false,
    hasInstances: false,
    runsJobs: false,
    suspension: 'Its files are not served until you resume it.',
  },
  cron_job: {
    label: 'Cron job',
    meaning: 'Runs on a schedule.',
    hasHosts: false,
    listens: false,
    hasInstances: false,
    runsJobs: true,
    suspension: 'The current run is canceled, and none starts until you resume it.',
  },
}

export interface ServiceSection {
  label: string
  /** Below the address of the service. */
  path: string
}

/** The pages of a service next to its overview. */
export function sectionsOf({
  type,
  disk_mount_path,
}: Pick<Service, 'type' | 'disk_mount_path'>): ServiceSection[] {
  const { hasHosts, hasInstances, runsJobs } = SERVICE_TYPE[type]
  const isMeasured = hasInstances || type === 'static_site'
  return [
    { label: 'Deploys', path: 'deploys' },
    ...(hasInstances ? [{ label: 'Logs', path: 'logs' }] : []),
    ...(runsJobs ? [{ label: 'Shell', path: 'shell' }] : []),
    ...(isMeasured ? [{ label: 'Metrics', path: 'metrics' }] : []),
    ...(disk_mount_path !== null ? [{ label: 'Disk', path: 'disk' }] : []),
    ...(runsJobs ? [{ label: 'Runs', path: 'runs' }] : []),
    { label: 'Variables', path: 'variables' },
    ...(hasHosts ? [{ label: 'Edge', path: 'edge' }] : []),
    { label: 'Settings', path: 'settings' },
  ]
}
