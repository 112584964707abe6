import { computed, type ComputedRef } from 'vue'
import { api } from '../api/client.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { EnvGroup, Service } from '../api/types.ts'
import { useServices } from '../service/store.ts'
import { byName } from '../ui/by-name.ts'

/** The path of an env group in the dashboard. Names are unique and never change. */
export function envGroupPath({ name }: Pick<EnvGroup, 'name'>): string {
  return `/env-groups/${name}`
}

/** Every env group by name. */
export function useEnvGroups(): Resource<EnvGroup[]> {
  return useResource(async (signal) => (await api('GET /env-groups', { signal })).toSorted(byName), {
    concerns: ({ kind }) => kind === 'env_group',
  })
}

/** One env group by its name or id. */
export function useEnvGroup(address: () => string): Resource<EnvGroup> {
  return useResource((signal) => api('GET /env-groups/{id}', { id: address(), signal }), {
    key: address,
    concerns: ({ kind, id }, known) => kind === 'env_group' && (!known || known.id === id),
  })
}

/** The services of every environment, production's first; undefined until they are known. */
export function useAllServices(): ComputedRef<Service[] | undefined> {
  const store = useServices()
  const { data: environments } = store.environments()
  return computed(() => environments.value?.flatMap(({ name }) => store.of(name)))
}
