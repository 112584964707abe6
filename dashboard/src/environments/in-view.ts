import { computed, inject, provide, ref, watch, type ComputedRef, type InjectionKey, type Ref } from 'vue'
import { useRoute, useRouter, type RouteLocationNormalizedLoaded, type RouteLocationRaw } from 'vue-router'
import { useResource } from '../api/resource.ts'
import { datastoreRef } from '../datastores/address.ts'
import { serviceRef } from '../service/address.ts'
import { listEnvironments } from './list.ts'

/** Pages that show one environment if their address names it (`?environment=staging`), and all of them otherwise. */
const LISTS: readonly string[] = ['/overview', '/services', '/datastores', '/env-groups', '/logs']
/** Filters of these pages that name something of an environment. Another one does not have it. */
const OF_ENVIRONMENT: readonly string[] = ['service', 'deploy', 'instance']
/** Pages of something new, which choose the environment that their address names. */
const NEW: readonly string[] = ['/services/new', '/datastores/new']

/** The environment that the lists show, and links to them. */
interface InView {
  /** Its name; null for all environments. */
  name: Ref<string | null>
  /** All to choose from, production first; the one in view is among them even if it is not known yet, or not any more. */
  names: ComputedRef<string[]>
  /** The address of a page that heeds the environment. */
  at(path: string): RouteLocationRaw
  /** Shows another environment: on the current page if that is a list, otherwise in the overview. Resolves when it is decided. */
  choose(name: string | null): Promise<void>
}

const KEY: InjectionKey<InView> = Symbol('environment in view')

/**
 * Follows which environment is in view, for the components below: that of the list that is shown. Pages of the server or the
 * account leave it as it is; the page of a service or a datastore of another environment brings that one into view.
 */
export function provideInView(): void {
  const route = useRoute()
  const router = useRouter()
  const name = ref<string | null>(null)
  watch(
    () => route.fullPath,
    () => (name.value = inViewAt(route, name.value)),
    { immediate: true },
  )
  const { data: environments } = useResource(listEnvironments)
  const names = computed(() => {
    const known = environments.value?.map((environment) => environment.name) ?? []
    return name.value === null || known.includes(name.value) ? known : [...known, name.value]
  })
  const query = (environment: string | null) => (environment === null ? {} : { environment })
  provide(KEY, {
    name,
    names,
    at: (path) => ({ path, query: query(name.value) }),
    async choose(chosen) {
      const isList = LISTS.includes(route.path)
      const kept = Object.entries(isList ? route.query : {}).filter(
        ([key]) => key !== 'environment' && !OF_ENVIRONMENT.includes(key),
      )
      await router.push({
        path: isList ? route.path : '/overview',
        query: { ...query(chosen), ...Object.fromEntries(kept) },
      })
    },
  })
}

export function useInView(): InView {
  const inView = inject(KEY)
  if (!inView) throw new Error('there is no environment in view outside the shell')
  return inView
}

/** The environment that the address of a list names; null for all of them. */
export function useListedEnvironment(): ComputedRef<string | null> {
  const route = useRoute()
  return computed(() => namedIn(route))
}

function inViewAt(route: RouteLocationNormalizedLoaded, before: string | null): string | null {
  if (LISTS.includes(route.path)) return namedIn(route)
  if (before === null) return null
  if (NEW.includes(route.path)) return namedIn(route) ?? before
  const id = String(route.params['id'])
  const [, kind] = route.path.split('/')
  const reference = kind === 'services' ? serviceRef(id) : kind === 'datastores' ? datastoreRef(id) : null
  return reference && 'environment' in reference ? reference.environment : before
}

function namedIn({ query: { environment } }: RouteLocationNormalizedLoaded): string | null {
  return typeof environment === 'string' && environment !== '' ? environment : null
}
