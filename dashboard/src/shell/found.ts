import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { api } from '../api/client.ts'
import type { ApiToken, SearchHit } from '../api/types.ts'
import { qualifiedName } from '../service/address.ts'

/** Something that the server found by its name. */
export interface Found {
  label: string
  detail: string
  path: string
}

/** With fewer letters nearly everything is found. */
const LEAST_LETTERS = 2
/** Someone who types on within this time does not wait for an answer yet. */
const PAUSE_MS = 150

interface FoundByName {
  found: ShallowRef<Found[]>
  isSearching: Ref<boolean>
}

/**
 * Finds by name what the pages do not have at hand: env groups, variables, domains, registries, blueprints, notifications,
 * log drains, and tokens. Without an answer it finds nothing; the rest of the palette works on.
 */
export function useFoundByName(query: () => string): FoundByName {
  const found = shallowRef<Found[]>([])
  const isSearching = ref(false)
  let asking = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let tokens: Promise<ApiToken[]> | undefined

  async function search(text: string, signal: AbortSignal): Promise<void> {
    tokens ??= api('GET /auth/tokens').catch(() => [])
    const [hits, known] = await Promise.all([
      api('GET /search', { query: { q: text }, signal }).catch(() => []),
      tokens,
    ])
    if (signal.aborted) return
    found.value = [...hits.flatMap(hitEntry), ...known.map(tokenEntry)]
    isSearching.value = false
  }

  function stop(): void {
    asking.abort()
    clearTimeout(timer)
  }
  watch(query, (text) => {
    stop()
    asking = new AbortController()
    const { signal } = asking
    isSearching.value = text.length >= LEAST_LETTERS
    if (isSearching.value) timer = setTimeout(() => void search(text, signal), PAUSE_MS)
    else found.value = []
    // Others may be there the next time.
    if (text === '') tokens = undefined
  })
  onScopeDispose(stop)
  return { found, isSearching }
}

function tokenEntry({ name }: ApiToken): Found {
  return { label: name, detail: 'API token', path: '/account' }
}

/** How each kind reads, and its page; services, datastores and environments are at hand. */
const KINDS: Partial<Record<SearchHit['kind'], { label: string; path: string }>> = {
  env_group: { label: 'Env group', path: '/env-groups' },
  variable: { label: 'Variable', path: '/env-groups' },
  domain: { label: 'Domain', path: '/domains' },
  redirect: { label: 'Redirect', path: '/domains' },
  registry_credential: { label: 'Registry credential', path: '/registries' },
  blueprint: { label: 'Blueprint', path: '/blueprints' },
  notification: { label: 'Notification', path: '/notifications' },
  log_drain: { label: 'Log drain', path: '/notifications' },
  node: { label: 'Node', path: '/server/nodes' },
}

function hitEntry({ kind, name, holder, environment }: SearchHit): Found[] {
  const look = KINDS[kind]
  if (!look) return []
  if (holder === null)
    return [
      { label: name, detail: look.label, path: kind === 'env_group' ? `${look.path}/${name}` : look.path },
    ]
  if (holder.kind === 'env_group')
    return [{ label: name, detail: `${look.label} of ${holder.name}`, path: `/env-groups/${holder.name}` }]
  const service = qualifiedName({ name: holder.name, environment: environment! })
  const section = kind === 'variable' ? 'variables' : 'settings#custom-domains'
  return [{ label: name, detail: `${look.label} of ${service}`, path: `/services/${service}/${section}` }]
}
