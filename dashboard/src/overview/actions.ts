import { ref, shallowRef, type Component } from 'vue'
import { useRouter } from 'vue-router'
import {
  Archive,
  ChartLine,
  CirclePause,
  CirclePlay,
  DatabaseBackup,
  ExternalLink,
  RefreshCw,
  Rocket,
  ScrollText,
  Settings,
} from '@lucide/vue'
import { api, problemText } from '../api/client.ts'
import type { DatastoreEntry, OverviewEntry, Service, ServiceEntry } from '../api/types.ts'
import { obstacle as datastoreObstacle } from '../datastores/status.ts'
import { useDeployStart } from '../deploys/start.ts'
import { obstacle, type ServiceAction } from '../service/state.ts'
import { useServices } from '../service/store.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import type { MenuAction } from '../ui/ActionMenu.vue'
import { toast } from '../ui/toasts.ts'
import { entryPath } from './entry.ts'

/** What can be done to an entry of the overview from its row. */
export function useEntryActions() {
  const { ofService, suspending, isSuspending } = useServiceActions()
  const { ofDatastore } = useDatastoreActions()
  const of = (entry: OverviewEntry) => (entry.kind === 'service' ? ofService(entry) : ofDatastore(entry))
  return { of, suspending, isSuspending }
}

function useServiceActions() {
  const page = usePages()
  const store = useServices()
  const { start } = useDeployStart()
  /** The service that is to be suspended, about which a dialog asks. */
  const suspending = shallowRef<Service>()
  const isSuspending = ref(false)

  async function suspend({ id }: ServiceEntry): Promise<void> {
    suspending.value = await store.fetch({ id })
    isSuspending.value = true
  }

  async function resume({ id }: ServiceEntry): Promise<string> {
    const { name } = store.take(await api('POST /services/{id}/resume', { id }))
    return `${name} is starting again.`
  }

  function ofService(entry: ServiceEntry): MenuAction[] {
    const { id, url } = entry
    const { hasInstances } = SERVICE_TYPE[entry.type]
    const action = (label: string, icon: Component, name: ServiceAction, run: () => void) => ({
      ...{ label, icon, run },
      reason: obstacle(entry, name),
    })
    const restart = () => api('POST /services/{id}/restart', { id })
    const isOpen = url !== null && entry.live_deploy_id !== null
    return [
      action('Deploy', Rocket, 'deploy', () => void start(entry)),
      ...(hasInstances ? [action('Restart', RefreshCw, 'restart', () => void start(entry, restart))] : []),
      ...(isOpen
        ? [
            {
              label: 'Open in a new tab',
              icon: ExternalLink,
              run: () => void open(url, '_blank', 'noreferrer'),
            },
          ]
        : []),
      ...(hasInstances ? [page(entry, 'Logs', ScrollText, 'logs')] : []),
      ...(hasInstances || entry.type === 'static_site' ? [page(entry, 'Metrics', ChartLine, 'metrics')] : []),
      page(entry, 'Settings', Settings, 'settings'),
      entry.suspended
        ? action('Resume', CirclePlay, 'resume', () => void attempt(() => resume(entry)))
        : action('Suspend…', CirclePause, 'suspend', () => void attempt(() => suspend(entry))),
    ]
  }
  return { ofService, suspending, isSuspending }
}

function useDatastoreActions() {
  const page = usePages()

  async function backUp({ id }: DatastoreEntry): Promise<string> {
    await api('POST /datastores/{id}/backups', { id })
    return 'The backup was started. It is listed under Backups.'
  }

  function ofDatastore(entry: DatastoreEntry): MenuAction[] {
    return [
      {
        ...{ label: 'Back up now', icon: Archive, run: () => void attempt(() => backUp(entry)) },
        reason: datastoreObstacle({ status: entry.state }, 'backUp'),
      },
      page(entry, 'Logs', ScrollText, 'logs'),
      page(entry, 'Backups', DatabaseBackup, 'backups'),
      page(entry, 'Settings', Settings, 'settings'),
    ]
  }
  return { ofDatastore }
}

/** Actions that lead to a section of an entry. */
function usePages() {
  const router = useRouter()
  return (entry: OverviewEntry, label: string, icon: Component, section: string): MenuAction => ({
    ...{ label, icon },
    run: () => void router.push(entryPath(entry, section)),
  })
}

/** Does it, and says what was done, if that is returned; a refusal is shown in a toast. */
async function attempt(work: () => Promise<string | void>): Promise<void> {
  try {
    const done = await work()
    if (done) toast.done(done)
  } catch (problem) {
    toast.problem(problemText(problem))
  }
}
