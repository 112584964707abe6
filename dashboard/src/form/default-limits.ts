import { computed } from 'vue'
import { useServerInfo } from '../api/server-info.ts'

/** What a container without limits of its own may use, in MiB and CPUs; undefined until it is known. */
export function useDefaultLimits() {
  const { data: info } = useServerInfo()
  return {
    memory: computed(() => info.value?.default_memory_limit_mb),
    cpu: computed(() => info.value?.default_cpu_limit),
  }
}
