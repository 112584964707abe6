import { computed, reactive, toRefs, watch, type ComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { Service } from '../api/types.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import type { Tone } from '../ui/StatusBadge.vue'
import { stateOf } from './state.ts'
import { SERVICE_TYPE } from './type.ts'

/** What an entry of a list is found and sorted by. */
export interface Facets {
  name: string
  /** As it reads. */
  state: string
  type: { value: string; label: string }
  /** The lower, the sooner it needs attention. */
  urgency: number
}

/** Names of the filters in the address, which keeps them when the user comes back to the list. */
const KEYS = ['q', 'state', 'type', 'first'] as const
type Filters = Record<(typeof KEYS)[number], string>

interface Options {
  /** Whether what needs attention comes first, unless the user wants the order of names. */
  urgentFirst?: boolean
}

/** Which entries are shown, and in which order; an empty filter does not limit. */
export function useListFilter<Entry>(
  facetsOf: (entry: Entry) => Facets,
  { urgentFirst = false }: Options = {},
): ListFilter<Entry> {
  const route = useRoute()
  const router = useRouter()
  const given = (key: (typeof KEYS)[number]) => {
    const value = route.query[key]
    return typeof value === 'string' ? value : ''
  }
  const filter: Filters = reactive({
    q: given('q'),
    state: given('state'),
    type: given('type'),
    first: given('first'),
  })
  watch(filter, () => {
    const others = Object.entries(route.query).filter(([key]) => !KEYS.some((each) => each === key))
    const kept = KEYS.flatMap((key) => (filter[key] === '' ? [] : [[key, filter[key]] as const]))
    void router.replace({ query: Object.fromEntries([...others, ...kept]) })
  })
  const orders = urgentFirst
    ? [...URGENT, { value: 'name', label: 'By name' }]
    : [{ value: '', label: 'By name' }, ...FAILED]
  return {
    ...toRefs(filter),
    orders,
    isOn: computed(() => filter.q.trim() !== '' || filter.state !== '' || filter.type !== ''),
    clear: () => Object.assign(filter, { q: '', state: '', type: '' }),
    facetsOf,
    apply: (entries) => {
      const found = entries.filter((entry) => fits(facetsOf(entry), filter))
      const isSorted = urgentFirst ? filter.first !== 'name' : filter.first === 'failed'
      return isSorted ? sorted(found, facetsOf) : found
    },
  }
}

const URGENT = [{ value: '', label: 'Needs attention first' }]
const FAILED = [{ value: 'failed', label: 'Failed first' }]

export interface ListFilter<Entry> extends ReturnType<typeof toRefs<Filters>> {
  /** The orders to choose from; the first is that of the list without a choice. */
  orders: { value: string; label: string }[]
  /** Whether some entries may be left out. */
  isOn: ComputedRef<boolean>
  /** Removes all filters; the order stays. */
  clear: () => void
  facetsOf: (entry: Entry) => Facets
  apply: (entries: readonly Entry[]) => Entry[]
}

function fits({ name, state, type }: Facets, filter: Filters): boolean {
  return (
    name.includes(filter.q.trim().toLowerCase()) &&
    (filter.state === '' || state === filter.state) &&
    (filter.type === '' || type.value === filter.type)
  )
}

function sorted<Entry>(entries: Entry[], facetsOf: (entry: Entry) => Facets): Entry[] {
  const ranked = entries.map((entry) => ({ entry, urgency: facetsOf(entry).urgency }))
  return ranked.sort((left, right) => left.urgency - right.urgency).map(({ entry }) => entry)
}

/** First what is down, then what is degraded or failed to deploy, then what is under way, then the rest. */
export function urgencyOf(state: Tone, latest?: Tone): number {
  if (state === 'danger') return 0
  if (state === 'warning' || latest === 'danger') return 1
  return state === 'progress' || latest === 'progress' ? 2 : 3
}

/** What the list of services is found and sorted by. */
export function serviceFacets(service: Service): Facets {
  const { label, tone } = stateOf(service)
  const { latest_deploy: latest } = service
  return {
    name: service.name,
    state: label,
    type: { value: service.type, label: SERVICE_TYPE[service.type].label },
    urgency: urgencyOf(tone, latest ? DEPLOY_STATUS[latest.status].tone : undefined),
  }
}
