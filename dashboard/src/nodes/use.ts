import { computed, type ComputedRef } from 'vue'
import { api } from '../api/client.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { Node } from '../api/types.ts'

/** What changes how much is on a node. */
const CONCERNED: readonly string[] = ['node', 'service', 'datastore', 'all']

/** The nodes, the server's own first. */
export function useNodes(): Resource<Node[]> {
  return useResource((signal) => api('GET /nodes', { signal }), {
    concerns: ({ kind }) => CONCERNED.includes(kind),
  })
}

/** The nodes of a server with more than one; null otherwise, as where something runs is then no question. */
export function useChoiceOfNodes(): ComputedRef<Node[] | null> {
  const { data } = useNodes()
  return computed(() => (data.value && data.value.length > 1 ? data.value : null))
}

/** The names of the nodes that are down. It does not ask again for what is on them, as every page uses it. */
export function useDownNodes(): ComputedRef<string[]> {
  const { data } = useResource((signal) => api('GET /nodes', { signal }), {
    concerns: ({ kind }) => kind === 'node',
  })
  return computed(() => (data.value ?? []).filter(({ status }) => status === 'down').map(({ name }) => name))
}
