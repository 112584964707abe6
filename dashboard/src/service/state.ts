import type { Job, Service, ServiceState, ServiceType } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'
import { SERVICE_TYPE } from './type.ts'

interface Presentation {
  label: string
  tone: Tone
  /** One sentence for the overview. */
  meaning: string
}

const SERVICE_STATE: Record<ServiceState, Presentation> = {
  not_deployed: { label: 'Not deployed', tone: 'neutral', meaning: 'Nothing has been deployed yet.' },
  deploying: { label: 'Deploying', tone: 'progress', meaning: 'The first deploy is in progress.' },
  running: { label: 'Running', tone: 'success', meaning: 'Every instance is up and healthy.' },
  degraded: { label: 'Degraded', tone: 'warning', meaning: 'Some instances are down; the others serve.' },
  down: { label: 'Down', tone: 'danger', meaning: 'No instance is up. The log says why.' },
  suspended: {
    label: 'Suspended',
    tone: 'neutral',
    meaning: 'Stopped by you. Settings and deploys are kept.',
  },
  idle: { label: 'Scaled to 0', tone: 'neutral', meaning: 'Scaled to 0, so no instance runs.' },
  failed: { label: 'Failed', tone: 'danger', meaning: 'The first deploy failed. Its log says why.' },
  deleting: { label: 'Deleting', tone: 'progress', meaning: 'Containers and routes are being removed.' },
}

/** What reads differently for types without instances. */
const STATE_OF_TYPE: Partial<Record<ServiceType, Partial<Record<ServiceState, Presentation>>>> = {
  static_site: {
    running: { label: 'Live', tone: 'success', meaning: 'Its files are served.' },
    suspended: { label: 'Suspended', tone: 'neutral', meaning: 'Not served. Settings and deploys are kept.' },
  },
  cron_job: {
    running: { label: 'Running', tone: 'progress', meaning: 'A run is in progress.' },
    idle: { label: 'Scheduled', tone: 'success', meaning: 'Waiting for its next run.' },
    suspended: { label: 'Suspended', tone: 'neutral', meaning: 'No run starts until it is resumed.' },
  },
}

/** A cron job that waits for its next run after a failed one should not look healthy. */
const RUN_FAILED: Presentation = { label: 'Run failed', tone: 'danger', meaning: 'Its last run failed.' }

/** What is live starts again: resumed, scaled from 0, or after the container engine was started. */
const STARTING: Presentation = {
  label: 'Starting',
  tone: 'progress',
  meaning: 'Its program is on its way up.',
}

/** How the state of a service reads. */
export function stateOf({
  type,
  state,
  last_run: run,
  live_deploy_id: live,
}: Pick<Service, 'type' | 'state' | 'live_deploy_id'> & {
  last_run: Pick<Job, 'status'> | null
}): Presentation {
  if (state === 'deploying' && live !== null) return STARTING
  if (type === 'cron_job' && state === 'idle' && run?.status === 'failed') return RUN_FAILED
  return STATE_OF_TYPE[type]?.[state] ?? SERVICE_STATE[state]
}

export type ServiceAction = 'deploy' | 'restart' | 'run' | 'suspend' | 'resume' | 'scale' | 'change'

/** States in which each action is refused, with the reason; states that are not listed allow it. */
const REFUSED: Record<ServiceAction, Partial<Record<ServiceState, string>>> = {
  deploy: { suspended: 'Resume the service first', deleting: 'The service is being deleted' },
  restart: { suspended: 'Resume the service first', deleting: 'The service is being deleted' },
  run: { suspended: 'Resume the service first', deleting: 'The service is being deleted' },
  suspend: { suspended: 'Already suspended', deleting: 'The service is being deleted' },
  resume: { deleting: 'The service is being deleted' },
  scale: { deleting: 'The service is being deleted' },
  change: { deleting: 'The service is being deleted' },
}

/** Why an action cannot be done now; null when it can. */
export function obstacle(
  service: Pick<Service, 'state' | 'suspended' | 'live_deploy_id'>,
  action: ServiceAction,
): string | null {
  const refused = REFUSED[action][service.state]
  if (refused) return refused
  if (action === 'resume' && !service.suspended) return 'It is not suspended'
  if ((action === 'restart' || action === 'run') && service.live_deploy_id === null)
    return 'Nothing is live yet'
  return null
}

/** Where a service's code comes from. */
export function sourceKind(service: Service): 'git' | 'image' | 'archive' {
  if (service.repo_url !== null) return 'git'
  return service.image === null ? 'archive' : 'image'
}

/** Whether it runs in containers; the build of a web service may produce only files, which the server serves itself. */
export function runsInstances(service: Service): boolean {
  const isSite = service.live_deploy_id !== null && service.internal_host === null
  return SERVICE_TYPE[service.type].hasInstances && !(SERVICE_TYPE[service.type].listens && isSite)
}
