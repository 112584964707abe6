import { computed, reactive, toRefs, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { Service } from '../api/types.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import { stateOf } from './state.ts'

/** Names of the filters in the address, which remembers them for who comes back to the list. */
const KEYS = ['q', 'state', 'type', 'first'] as const

/** What of the list of services is shown, and in which order; an empty one is no limit. */
export function useListFilter() {
  const route = useRoute()
  const router = useRouter()
  const given = (key: (typeof KEYS)[number]) => {
    const value = route.query[key]
    return typeof value === 'string' ? value : ''
  }
  const filter = reactive({
    q: given('q'),
    state: given('state'),
    type: given('type'),
    first: given('first'),
  })
  watch(filter, () => {
    const kept = KEYS.flatMap((key) => (filter[key] === '' ? [] : [[key, filter[key]]]))
    void router.replace({ query: Object.fromEntries(kept) })
  })
  const isOn = computed(() => filter.q.trim() !== '' || filter.state !== '' || filter.type !== '')
  /** Limits no more; the order stays. */
  const clear = () => Object.assign(filter, { q: '', state: '', type: '' })
  return { ...toRefs(filter), isOn, clear, apply: (services: Service[]) => applied(services, filter) }
}

export type ListFilter = ReturnType<typeof useListFilter>

function applied(
  services: Service[],
  { q, state, type, first }: Record<(typeof KEYS)[number], string>,
): Service[] {
  const wanted = q.trim().toLowerCase()
  const found = services.filter(
    (service) =>
      service.name.includes(wanted) &&
      (state === '' || stateOf(service).label === state) &&
      (type === '' || service.type === type),
  )
  return first === 'failed' ? found.toSorted((left, right) => urgency(left) - urgency(right)) : found
}

/** The lower, the sooner it wants a look: what is down, what serves badly or could not be renewed, the rest. */
function urgency(service: Service): number {
  const { tone } = stateOf(service)
  if (tone === 'danger') return 0
  const latest = service.latest_deploy
  return tone === 'warning' || (latest && DEPLOY_STATUS[latest.status].tone === 'danger') ? 1 : 2
}

/** What the list can be limited to: the states and types that its services have. */
export function useChoices(services: Ref<Service[]>) {
  return {
    states: computed(() => [...new Set(services.value.map((service) => stateOf(service).label))].sort()),
    types: computed(() => [...new Set(services.value.map(({ type }) => type))].sort()),
  }
}
