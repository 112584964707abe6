import { computed, inject, provide, type ComputedRef, type InjectionKey } from 'vue'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { Deploy, Service } from '../api/types.ts'

/** The deploy that is live, even if later ones failed; null when there is none or it is not known yet. */
export type LiveDeploy = ComputedRef<Deploy | null>

const KEY: InjectionKey<LiveDeploy> = Symbol('live deploy')

/** Finds the live deploy of a service for the components below. */
export function provideLive(service: () => Service | undefined): LiveDeploy {
  const { data } = useResource(
    async (signal) => {
      const { live_deploy_id: id, latest_deploy: latest } = service() ?? {}
      if (!id) return null
      return latest?.id === id ? latest : api('GET /deploys/{deploy_id}', { deploy_id: id, signal })
    },
    { key: () => service()?.live_deploy_id },
  )
  const live = computed(() => data.value ?? null)
  provide(KEY, live)
  return live
}

export function useLive(): LiveDeploy {
  const live = inject(KEY)
  if (!live) throw new Error('there is no live deploy outside the page of a service')
  return live
}

/** Whether settings or variables were saved after the live version was started. */
export function hasUndeployed(service: Pick<Service, 'settings_updated_at'>, live: Deploy | null): boolean {
  const startedAt = live?.started_at ?? null
  return startedAt !== null && service.settings_updated_at > startedAt
}
