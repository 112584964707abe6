import { computed } from 'vue'
import type { Service } from '../api/types.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import type { Tone } from '../ui/StatusBadge.vue'
import { useTitle } from '../ui/title.ts'
import { stateOf } from './state.ts'

/** The tone of a service and of its newest deploy together: what is under way counts before what has failed. */
export function toneOf(service: Service): Tone {
  const { tone } = stateOf(service)
  const deploy = service.latest_deploy && DEPLOY_STATUS[service.latest_deploy.status].tone
  return [tone, deploy].find((each) => each === 'progress') ?? (deploy === 'danger' ? deploy : tone)
}

/**
 * The title of the page of a list, by the tones of its entries: how many have failed, else whether something is under way. It
 * names the environment whose entries are shown alone.
 */
export function useListTitle(
  title: string,
  tones: () => readonly Tone[],
  environment: () => string | null = () => null,
): void {
  const failed = computed(() => tones().filter((tone) => tone === 'danger').length)
  useTitle(
    () => {
      const text = failed.value > 0 ? `${title} (${failed.value} failed)` : title
      return environment() === null ? text : `${text} · ${environment()}`
    },
    () => {
      if (failed.value > 0) return 'danger'
      return tones().includes('progress') ? 'progress' : 'neutral'
    },
  )
}
