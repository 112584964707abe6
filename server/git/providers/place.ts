import type { Provider } from '../schema.ts'
import type { ConnectionRow } from '../store.ts'

/** Where a provider is: its title, the address of its pages, and that of its API. */
export interface Place {
  provider: Provider
  /** The title for people: `GitHub`, or `GitHub at git.example.com`. */
  title: string
  /** The address of its pages and repositories, without a trailing slash. */
  web: string
  api: string
}

const OWN: Record<Provider, { name: string; web: string; api: string; apiPath: string }> = {
  gitprov_a: {
    name: 'GitHub',
    web: 'https://github.com',
    api: 'https://api.github.com',
    apiPath: '/api/v3',
  },
  gitprov_b: {
    name: 'GitLab',
    web: 'https://gitlab.com',
    api: 'https://gitlab.com/api/v4',
    apiPath: '/api/v4',
  },
}

/** Where the provider of a connection is. */
export function placeOf({ provider, base_url }: Pick<ConnectionRow, 'provider' | 'base_url'>): Place {
  const own = OWN[provider]
  if (base_url === null) return { provider, title: own.name, web: own.web, api: own.api }
  return {
    provider,
    title: `${own.name} at ${new URL(base_url).host}`,
    web: base_url,
    api: base_url + own.apiPath,
  }
}

/** Whether an address is the provider's own, and so not a self-hosted instance. */
export function normalBaseUrl(provider: Provider, baseUrl: string | null): string | null {
  return baseUrl === OWN[provider].web ? null : baseUrl
}

/** The path of a repository at a provider, such as `owner/name`; null when the address belongs to another one. */
export function pathAt({ web }: Place, repositoryUrl: string): string | null {
  const url = URL.parse(repositoryUrl)
  const base = new URL(web)
  if (url === null || url.origin !== base.origin) return null
  const root = base.pathname === '/' ? '' : base.pathname
  if (!url.pathname.startsWith(`${root}/`)) return null
  const path = url.pathname
    .slice(root.length)
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/\.git$/i, '')
  return path.includes('/') ? decodeURIComponent(path) : null
}
