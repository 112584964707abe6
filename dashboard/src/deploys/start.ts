import { ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { api, problemText } from '../api/client.ts'
import type { Deploy, Service } from '../api/types.ts'
import { servicePath } from '../service/address.ts'
import { toast } from '../ui/toasts.ts'

interface Starting {
  busy: Ref<boolean>
  /** Does what queues a deploy of the service, and shows that; without it, its source is deployed as it is now. */
  start: (service: Service, queue?: () => Promise<Deploy>) => Promise<void>
}

/** Starts deploys by a click; what refuses one is told in a toast. */
export function useDeployStart(): Starting {
  const router = useRouter()
  const busy = ref(false)
  async function start(service: Service, queue = () => deploySource(service)): Promise<void> {
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

function deploySource({ id }: Service): Promise<Deploy> {
  return api('POST /services/{id}/deploys', { id, body: {} })
}
