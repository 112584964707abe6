import { ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { api, problemText } from '../api/client.ts'
import type { Deploy, Service } from '../api/types.ts'
import { servicePath } from '../service/address.ts'
import { toast } from '../ui/toasts.ts'

type Deployable = Pick<Service, 'id' | 'name' | 'environment'>

interface Starting {
  busy: Ref<boolean>
  /** Queues a deploy with `queue` and shows it; without `queue`, the current source is deployed. */
  start: (service: Deployable, queue?: () => Promise<Deploy>) => Promise<void>
}

/** Starts deploys on click; a refusal is shown in a toast. */
export function useDeployStart(): Starting {
  const router = useRouter()
  const busy = ref(false)
  async function start(service: Deployable, queue = () => deploySource(service)): Promise<void> {
    busy.value = true
    try {
      const deploy = await queue()
      await router.push(servicePath(service, `deploys/${deploy.id}`))
    } catch (problem) {
      toast.problem(problemText(problem))
    } finally {
      busy.value = false
    }
  }
  return { busy, start }
}

function deploySource({ id }: Deployable): Promise<Deploy> {
  return api('POST /services/{id}/deploys', { id, body: {} })
}
