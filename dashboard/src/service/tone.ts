import type { Service } from '../api/types.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import type { Tone } from '../ui/StatusBadge.vue'
import { stateOf } from './state.ts'

/** The tone of a service and of its newest deploy together: what is under way counts before what has failed. */
export function toneOf(service: Service): Tone {
  const { tone } = stateOf(service)
  const deploy = service.latest_deploy && DEPLOY_STATUS[service.latest_deploy.status].tone
  return [tone, deploy].find((each) => each === 'progress') ?? (deploy === 'danger' ? deploy : tone)
}

/** The title of a list and its tone, of those of its entries: how many have failed, else whether something is under way. */
export function listTitle(title: string, tones: readonly Tone[]): { title: string; tone: Tone } {
  const failed = tones.filter((tone) => tone === 'danger').length
  if (failed > 0) return { title: `${title} (${failed} failed)`, tone: 'danger' }
  return { title, tone: tones.includes('progress') ? 'progress' : 'neutral' }
}
