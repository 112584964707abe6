import { firstLine, plainText } from '../api/plain-text.ts'
import type { Deploy, DeploySource, DeployStatus, DeployTrigger, Service } from '../api/types.ts'
import { bytes } from '../metrics/units.ts'
import type { Tone } from '../ui/StatusBadge.vue'

interface Presentation {
  label: string
  tone: Tone
  /** Work is in progress or waiting: it can be cancelled, and its log can be followed. */
  inProgress: boolean
}

/** How each status of a deploy reads. */
export const DEPLOY_STATUS: Record<DeployStatus, Presentation> = {
  queued: { label: 'Queued', tone: 'progress', inProgress: true },
  building: { label: 'Building', tone: 'progress', inProgress: true },
  deploying: { label: 'Deploying', tone: 'progress', inProgress: true },
  live: { label: 'Live', tone: 'success', inProgress: false },
  build_failed: { label: 'Build failed', tone: 'danger', inProgress: false },
  deploy_failed: { label: 'Deploy failed', tone: 'danger', inProgress: false },
  canceled: { label: 'Canceled', tone: 'neutral', inProgress: false },
  deactivated: { label: 'Replaced', tone: 'neutral', inProgress: false },
}

/** How a deploy of a service reads: the one that is live is not, while its service is suspended. */
export function statusOf(service: Pick<Service, 'suspended'> | undefined, deploy: Deploy): Presentation {
  const isStopped = deploy.status === 'live' && service?.suspended === true
  return isStopped ? { label: 'Suspended', tone: 'neutral', inProgress: false } : DEPLOY_STATUS[deploy.status]
}

/** What a queued deploy waits for, in a few words; null if only for its turn. */
export function waitingLabel({ waiting }: Deploy): string | null {
  return (
    waiting &&
    `Waits for room on the disk: ${bytes(waiting.free_bytes)} of ${bytes(waiting.floor_bytes)} free`
  )
}

const TRIGGERS: Record<DeployTrigger, string> = {
  create: 'First deploy',
  manual: 'Manual deploy',
  restart: 'Restart',
  rollback: 'Rollback',
  upload: 'Upload',
  deploy_hook: 'Deploy hook',
  webhook: 'Push',
  blueprint: 'Blueprint',
  restore: 'Restored server',
}

/** What started a deploy. */
export function triggerLabel(deploy: Deploy): string {
  return TRIGGERS[deploy.trigger]
}

/** Who wrote the commit of a deploy, who need not be who deployed it; null if it is not known. */
export function authorLabel({ commit_author: author }: Deploy): string | null {
  return author && `commit by ${plainText(author)}`
}

const SHORT_COMMIT = 7

/** What a deploy runs, in one line: the commit, the image or the archive. */
export function versionLabel(deploy: Deploy): string {
  if (deploy.commit_sha) {
    const subject = firstLine(deploy.commit_message ?? '')
    return `${deploy.commit_sha.slice(0, SHORT_COMMIT)}${subject ? ` ${subject}` : ''}`
  }
  return sourceLabel(deploy.source, deploy.image)
}

function sourceLabel(source: DeploySource, image: string | null): string {
  if (source.kind === 'git') return plainText(source.commit ?? source.branch ?? 'default branch')
  return source.kind === 'image' ? (image ?? 'image') : 'uploaded archive'
}

/** Why a service cannot be rolled back to this deploy now; null when it can. */
export function rollbackObstacle(service: Service, deploy: Deploy): string | null {
  if (service.suspended) return 'The service is suspended'
  if (deploy.id === service.live_deploy_id) return 'This version is live'
  if (deploy.status !== 'deactivated') return 'You can only roll back to a version that was live'
  return null
}
