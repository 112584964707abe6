import { useRouter } from 'vue-router'
import { api, problemText } from '../api/client.ts'
import type { Service } from '../api/types.ts'
import { useDeployStart } from '../deploys/start.ts'
import { qualifiedName, servicePath } from '../service/address.ts'
import { obstacle } from '../service/state.ts'
import { useServices } from '../service/store.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import { theme, type ThemeChoice } from '../ui/theme.ts'
import { toast } from '../ui/toasts.ts'
import type { Named } from './matching.ts'
import { useSignOut } from './sign-out.ts'

/** An entry of the palette: an action or a destination. */
export interface Entry extends Named {
  run: () => unknown
  /** The service that it leads to, whose actions can be shown instead. */
  service?: Service
}

/** What an action cannot do by itself. */
interface Asks {
  suspend: (service: Service) => void
  showKeys: () => void
}

const THEMES: Record<ThemeChoice, string> = { light: 'Light', dark: 'Dark', system: 'System' }

/** Actions that are available everywhere, and those of a service. */
export function useActions(asks: Asks) {
  const router = useRouter()
  const store = useServices()
  const signOut = useSignOut()
  const { start } = useDeployStart()

  async function resume({ id }: Service): Promise<void> {
    try {
      const { name } = store.take(await api('POST /services/{id}/resume', { id }))
      toast.done(`${name} is starting again.`)
    } catch (problem) {
      toast.problem(problemText(problem))
    }
  }

  /** The actions that the service allows now. */
  function ofService(service: Service): Entry[] {
    const { id, url } = service
    const name = qualifiedName(service)
    const { hasInstances, runsJobs } = SERVICE_TYPE[service.type]
    const entry = (label: string, isAllowed: boolean, run: () => unknown) =>
      isAllowed ? [{ label, detail: 'Action', run }] : []
    const allows = (action: Parameters<typeof obstacle>[1]) => obstacle(service, action) === null
    const isLive = service.live_deploy_id !== null
    return [
      ...entry(`Deploy ${name}`, allows('deploy'), () => start(service)),
      ...entry(`Restart ${name}`, hasInstances && allows('restart'), () =>
        start(service, () => api('POST /services/{id}/restart', { id })),
      ),
      ...entry(`Open ${name} in a new tab`, url !== null && isLive, () => open(url!, '_blank', 'noreferrer')),
      ...entry(`Roll back ${name}…`, isLive && !service.suspended, () =>
        router.push(servicePath(service, 'deploys')),
      ),
      ...entry(`Run a command in ${name}…`, runsJobs && allows('run'), () =>
        router.push(servicePath(service, 'runs')),
      ),
      ...entry(`Suspend ${name}…`, !service.suspended && allows('suspend'), () => asks.suspend(service)),
      ...entry(`Resume ${name}`, service.suspended && allows('resume'), () => resume(service)),
    ]
  }

  const general: Entry[] = [
    { label: 'API reference', detail: 'Page', run: () => location.assign('/api/docs') },
    { label: 'Show the keys', detail: 'Action', run: asks.showKeys },
    ...(Object.keys(THEMES) as ThemeChoice[]).map((choice) => ({
      label: `Theme: ${THEMES[choice]}`,
      detail: 'Action',
      run: () => (theme.value = choice),
    })),
    { label: 'Sign out', detail: 'Action', run: signOut },
  ]
  return { ofService, general }
}
