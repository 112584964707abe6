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

/** What is wrong with the nodes as a whole, for every page. */
export interface NodeFaults {
  /** The names of those that are down. */
  down: string[]
  /** What is wrong with the managers; null for nothing. */
  managers: string | null
}

/** What is wrong with the nodes. It does not ask again for what is on them, as every page uses it. */
export function useNodeFaults(): ComputedRef<NodeFaults> {
  const { data } = useResource((signal) => api('GET /nodes', { signal }), {
    concerns: ({ kind }) => kind === 'node',
  })
  return computed(() => {
    const nodes = data.value ?? []
    return {
      down: nodes.filter(({ status }) => status === 'down').map(({ name }) => name),
      managers: faultOfManagers(nodes),
    }
  })
}

function faultOfManagers(nodes: Node[]): string | null {
  const [own] = nodes
  if (own?.manager === 'unreachable')
    return 'The swarm does not answer, since too many managers are away. What runs goes on, but on other nodes nothing starts, and nothing joins or leaves.'
  const managers = nodes.filter(({ roles }) => roles.includes('manager'))
  const [first, ...others] = managers.filter(({ manager }) => manager === 'unreachable')
  if (first && others.length === 0)
    return `${first.name} is away as a manager. Bring it back, or have another node in its place.`
  if (first)
    return `${[first, ...others].map(({ name }) => name).join(', ')} are away as managers. Bring them back, or have others in their place.`
  const isChanging = nodes.some(({ manager }) => manager === 'becoming' || manager === 'ceasing')
  if (managers.length === 2 && !isChanging)
    return 'There are two managers, so that the loss of either stops changes to the swarm. Have three, or only the server.'
  return null
}
