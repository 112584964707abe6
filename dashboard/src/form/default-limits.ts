import { computed } from 'vue'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'

/** What a container without limits of its own may use, in MiB and CPUs; undefined until it is known. */
export function useDefaultLimits() {
  const { data: info } = useResource((signal) => api('GET /info', { signal }))
  return {
    memory: computed(() => info.value?.default_memory_limit_mb),
    cpu: computed(() => info.value?.default_cpu_limit),
  }
}
