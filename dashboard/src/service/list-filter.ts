import { computed, reactive, toRefs, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { Service } from '../api/types.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import { stateOf } from './state.ts'

/** Names of the filters in the address, which keeps them when the user comes back to the list. */
const KEYS = ['q', 'state', 'type', 'first'] as const

/** Which services are shown, and in which order; an empty filter does not limit. */
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
  /** Removes all filters; the order stays. */
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

/**
 * The lower, the sooner it needs attention: first what is down, then what is degraded or failed to deploy, then the
 * rest.
 */
function urgency(service: Service): number {
  const { tone } = stateOf(service)
  if (tone === 'danger') return 0
  const latest = service.latest_deploy
  return tone === 'warning' || (latest && DEPLOY_STATUS[latest.status].tone === 'danger') ? 1 : 2
}

/** The filters to choose from: the states and types that its services have. */
export function useChoices(services: Ref<Service[]>) {
  return {
    states: computed(() => [...new Set(services.value.map((service) => stateOf(service).label))].sort()),
    types: computed(() => [...new Set(services.value.map(({ type }) => type))].sort()),
  }
}
