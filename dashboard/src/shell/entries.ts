import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { Service } from '../api/types.ts'
import { datastorePath } from '../datastores/address.ts'
import { useDatastores } from '../datastores/use.ts'
import { qualifiedName, servicePath, serviceRef } from '../service/address.ts'
import { settingsOf } from '../service/settings-index.ts'
import { useServices } from '../service/store.ts'
import { sectionsOf } from '../service/type.ts'
import type { Entry, useActions } from './actions.ts'
import type { Found } from './found.ts'

const PAGES: readonly [label: string, path: string][] = [
  ['Overview', '/overview'],
  ['Services', '/services'],
  ['New service', '/services/new'],
  ['Blueprints', '/blueprints'],
  ['Blueprint editor', '/blueprints/editor'],
  ['Datastores', '/datastores'],
  ['New datastore', '/datastores/new'],
  ['Logs', '/logs'],
  ['Environments', '/environments'],
  ['Env groups', '/env-groups'],
  ['Domains', '/domains'],
  ['Notifications and log drains', '/notifications'],
  ['Git', '/git'],
  ['Registries', '/registries'],
  ['Server', '/server'],
  ['Server metrics', '/server/metrics'],
  ['Nodes', '/server/nodes'],
  ['Server backups', '/server/backups'],
  ['Server disk and cleanup', '/server/disk'],
  ['Server doctor', '/server/doctor'],
  ['Server log', '/server/logs'],
  ['Audit log', '/server/audit'],
  ['Account', '/account'],
]

interface Palette {
  query: Ref<string>
  /** The service whose actions are shown alone. */
  scope: Ref<Service | null>
  actions: ReturnType<typeof useActions>
  found: Ref<Found[]>
}

/** Entries that lead somewhere. */
function useLinks() {
  const router = useRouter()
  const { data: environments } = useServices().environments()
  const to = (label: string, detail: string, path: string): Entry => ({
    label,
    detail,
    run: () => router.push(path),
  })
  /** The environment is named where there is more than one. */
  const placed = (what: string, { environment }: { environment: string }) =>
    (environments.value?.length ?? 0) > 1 ? `${what} in ${environment}` : what
  const sections = (service: Service) =>
    sectionsOf(service).map(({ path }) =>
      to(`${service.name} ${path}`, placed('Section', service), servicePath(service, path)),
    )
  const settings = (service: Service) =>
    settingsOf(service).flatMap(({ id, path, fields }) =>
      fields.map(({ label, name }) =>
        to(`${label} of ${qualifiedName(service)}`, `Setting ${name}`, `${servicePath(service, path)}#${id}`),
      ),
    )
  return { to, placed, sections, settings }
}

/** What the palette offers for what is typed. */
export function useEntries({ query, scope, actions, found }: Palette): ComputedRef<Entry[]> {
  const route = useRoute()
  const store = useServices()
  const { data: environments } = store.environments()
  const { data: datastores } = useDatastores()
  const { to, placed, sections, settings } = useLinks()
  const pages = PAGES.map(([label, path]) => to(label, 'Page', path))

  const all = computed(() => (environments.value ?? []).flatMap(({ name }) => store.of(name)))
  const current = computed(() => {
    const id = route.params['id']
    return typeof id === 'string' && route.path.startsWith('/services/')
      ? store.find(serviceRef(id))
      : undefined
  })
  const things = computed(() => [
    ...all.value.map((service) => ({
      ...to(service.name, placed('Service', service), servicePath(service)),
      service,
    })),
    ...(datastores.value ?? []).map((datastore) =>
      to(datastore.name, placed('Datastore', datastore), datastorePath(datastore)),
    ),
  ])

  const overviews = computed(() =>
    (environments.value ?? []).map(({ name }) =>
      to(name, 'Environment', `/overview?${new URLSearchParams({ environment: name })}`),
    ),
  )

  const isTyped = computed(() => query.value !== '')
  /** Until something is typed, Enter alone only ever navigates: actions come after sections. */
  return computed(() => {
    if (scope.value) {
      const service = store.get(scope.value.id) ?? scope.value
      return [...sections(service), ...actions.ofService(service), ...settings(service)]
    }
    const shown = current.value
    if (!isTyped.value)
      return [
        ...(shown ? [...sections(shown), ...actions.ofService(shown)] : []),
        ...things.value,
        ...pages,
        ...actions.general,
      ]
    const others = all.value.filter(({ id }) => id !== shown?.id)
    return [
      ...(shown ? actions.ofService(shown) : []),
      ...things.value,
      ...overviews.value,
      ...pages,
      ...actions.general,
      ...others.flatMap(actions.ofService),
      // They come a moment later, and must not move an action under somebody's Enter.
      ...found.value.map(({ label, detail, path }) => ({ ...to(label, detail, path), isLate: true })),
      ...all.value.flatMap(sections),
      ...(shown ? settings(shown) : []),
    ]
  })
}
