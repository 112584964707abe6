import {
  computed,
  effectScope,
  inject,
  onScopeDispose,
  provide,
  ref,
  shallowReactive,
  shallowRef,
  watch,
  type ComputedRef,
  type EffectScope,
  type InjectionKey,
  type Ref,
  type ShallowRef,
} from 'vue'
import { serviceRef, type ServiceRef } from './address.ts'
import { onChange } from '../api/changes.ts'
import { api, ApiError } from '../api/client.ts'
import { asApiError, oneAtATime, useResource, type Resource } from '../api/resource.ts'
import type { Environment, Service } from '../api/types.ts'
import { listEnvironments } from '../environments/list.ts'
import { byName } from '../ui/by-name.ts'

/**
 * The services that the page knows, in one place: a list is fetched once, a change fetches only the service it is
 * about, and all pages show the same data.
 */
class ServiceStore {
  readonly #known = shallowReactive(new Map<string, Service>())
  readonly #fetching = new Map<string, ReturnType<typeof oneAtATime>>()
  /** Services that changed while the list was being fetched; the list may have older data about them. */
  readonly #changed = new Set<string>()
  /** Services that were deleted: a response that arrives late must not bring them back. */
  readonly #gone = new Set<string>()
  readonly #scope: EffectScope
  #list: Resource<Environment[]> | null = null

  /** Must be created in the setup of a component; it lives as long as that component. */
  constructor() {
    this.#scope = effectScope()
    onChange((change) => {
      if (change.kind === 'all') this.#resync()
      else if (change.service_id !== null && change.kind !== 'job')
        this.#change(change.service_id, change.kind === 'service' && change.action === 'deleted')
    })
    onScopeDispose(() => {
      for (const { stop } of this.#fetching.values()) stop()
    })
  }

  /** The environments, production first; the first call fetches them with all their services. */
  environments(): Resource<Environment[]> {
    this.#list ??= this.#scope.run(() => useResource((signal) => this.#loadAll(signal)))!
    return this.#list
  }

  /** The services of an environment that are known, by name. */
  of(environment: string): Service[] {
    return [...this.#known.values()].filter((service) => service.environment === environment).sort(byName)
  }

  get(id: string): Service | undefined {
    return this.#known.get(id)
  }

  find(reference: ServiceRef): Service | undefined {
    if ('id' in reference) return this.get(reference.id)
    const { name, environment } = reference
    return [...this.#known.values()].find(
      (service) => service.name === name && service.environment === environment,
    )
  }

  /** Stores a service from a response, and returns it. */
  take(service: Service): Service {
    if (!this.#gone.has(service.id)) this.#known.set(service.id, service)
    return service
  }

  /** Asks the server for one service as it is now. Throws ApiError. */
  async fetch(reference: ServiceRef, signal?: AbortSignal): Promise<Service> {
    const [id, query] =
      'id' in reference ? [reference.id, {}] : [reference.name, { environment: reference.environment }]
    const service = await api('GET /services/{id}', { id, query, signal })
    const known = this.#known.get(service.id)
    // A response that is older than that of a save is outdated.
    return known && known.updated_at > service.updated_at ? known : this.take(service)
  }

  #resync(): void {
    // The list fetches itself again.
    if (!this.#list) for (const id of this.#known.keys()) this.#refresh(id)
  }

  #change(id: string, isDeleted: boolean): void {
    this.#changed.add(id)
    if (isDeleted) {
      this.#gone.add(id)
      this.#known.delete(id)
    } else if (this.#list || this.#known.has(id)) this.#refresh(id)
  }

  #refresh(id: string): void {
    let fetching = this.#fetching.get(id)
    if (!fetching) {
      fetching = oneAtATime((signal) => this.#refetch(id, signal))
      this.#fetching.set(id, fetching)
    }
    fetching.wish()
  }

  async #refetch(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.fetch({ id }, signal)
    } catch (error) {
      // After any other error, the next change or the next connection fetches again.
      if (error instanceof ApiError && error.status === 404) this.#known.delete(id)
    }
  }

  async #loadAll(signal: AbortSignal): Promise<Environment[]> {
    this.#changed.clear()
    const [environments, production] = await Promise.all([
      listEnvironments(signal),
      api('GET /services', { signal }),
    ])
    const others = environments.slice(1).filter(({ services }) => services.length > 0)
    const lists = await Promise.all(
      others.map(({ id }) => api('GET /services', { query: { environment: id }, signal })),
    )
    const listed = new Map([production, ...lists].flat().map((service) => [service.id, service]))
    for (const id of this.#known.keys()) {
      if (!listed.has(id) && !this.#changed.has(id)) this.#known.delete(id)
    }
    for (const [id, service] of listed) if (!this.#changed.has(id)) this.#known.set(id, service)
    return environments
  }
}

const KEY: InjectionKey<ServiceStore> = Symbol('services')

/** Creates the store for the components below. */
export function provideServices(): void {
  provide(KEY, new ServiceStore())
}

export function useServices(): ServiceStore {
  const store = inject(KEY)
  if (!store) throw new Error('there are no services outside the shell')
  return store
}

/** One service by its reference in an address, followed when its name changes. */
export interface FollowedService {
  service: ComputedRef<Service | undefined>
  /** Why there is none. */
  error: Ref<ApiError | null>
  reload: () => void
}

export function useService(address: () => string): FollowedService {
  const store = useServices()
  const id: ShallowRef<string | undefined> = shallowRef()
  const error = ref<ApiError | null>(null)
  const service = computed(() => (id.value === undefined ? undefined : store.get(id.value)))

  const fetching = oneAtATime(async (signal) => {
    try {
      const found = await store.fetch(serviceRef(address()), signal)
      if (signal.aborted) return
      id.value = found.id
      error.value = null
    } catch (problem) {
      if (!signal.aborted) error.value = asApiError(problem)
    }
  })
  watch(
    address,
    (text) => {
      fetching.stop()
      error.value = null
      const reference = serviceRef(text)
      // After a change of its name the address follows the service, not the other way round.
      if (service.value && store.find(reference)?.id === id.value) return
      id.value = store.find(reference)?.id
      if (id.value === undefined) fetching.wish()
    },
    { immediate: true },
  )
  watch(service, (now, before) => {
    if (!now && before && id.value === before.id)
      error.value = new ApiError(404, 'not_found', `Service ${before.name} was deleted.`)
  })
  onChange((change) => {
    if (change.kind === 'all' && error.value) fetching.wish()
  })
  onScopeDispose(fetching.stop)
  return { service, error, reload: fetching.wish }
}
