import { useRouter } from 'vue-router'
import { api } from '../api/client.ts'
import type { Service } from '../api/types.ts'
import { useDeployStart } from '../deploys/start.ts'
import { servicePath } from '../service/address.ts'
import { obstacle } from '../service/state.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import { theme, type ThemeChoice } from '../ui/theme.ts'
import { useSignOut } from './sign-out.ts'

/** An entry of the palette: an action or a destination. */
export interface Entry {
  label: string
  detail: string
  run: () => unknown
}

const THEMES: Record<ThemeChoice, string> = { light: 'Light', dark: 'Dark', system: 'System' }

/** Actions that are available everywhere, and those for the current service. */
export function useActions() {
  const router = useRouter()
  const signOut = useSignOut()
  const { start } = useDeployStart()

  /** The actions that the service allows now. */
  function ofService(service: Service): Entry[] {
    const { id, name, url } = service
    const { hasInstances, runsJobs } = SERVICE_TYPE[service.type]
    const entry = (label: string, isAllowed: boolean, run: () => unknown) =>
      isAllowed ? [{ label, detail: 'Action', run }] : []
    const isLive = service.live_deploy_id !== null
    return [
      ...entry(`Deploy ${name}`, obstacle(service, 'deploy') === null, () => start(service)),
      ...entry(`Restart ${name}`, hasInstances && obstacle(service, 'restart') === null, () =>
        start(service, () => api('POST /services/{id}/restart', { id })),
      ),
      ...entry(`Open ${name} in a new tab`, url !== null && isLive, () => open(url!, '_blank', 'noreferrer')),
      ...entry(`Roll back ${name}…`, isLive && !service.suspended, () =>
        router.push(servicePath(service, 'deploys')),
      ),
      ...entry(`Run a command in ${name}…`, runsJobs && obstacle(service, 'run') === null, () =>
        router.push(servicePath(service, 'runs')),
      ),
    ]
  }

  const general: Entry[] = [
    { label: 'API reference', detail: 'Page', run: () => location.assign('/api/docs') },
    ...(Object.keys(THEMES) as ThemeChoice[]).map((choice) => ({
      label: `Theme: ${THEMES[choice]}`,
      detail: 'Action',
      run: () => (theme.value = choice),
    })),
    { label: 'Sign out', detail: 'Action', run: signOut },
  ]
  return { ofService, general }
}
