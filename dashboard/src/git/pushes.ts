import { computed, type ComputedRef } from 'vue'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useServerInfo } from '../api/server-info.ts'
import type { GitConnection, ServerInfo } from '../api/types.ts'

/**
 * How pushes to a repository reach the server: through its account, through a webhook that someone adds to it, or not
 * at all.
 */
export type PushWay = 'account' | 'webhook' | 'none'

/** How pushes of a repository arrive, depending on which connection serves it; null until known. */
export function usePushWay(serves: (connection: GitConnection) => boolean): ComputedRef<PushWay | null> {
  const { data: info } = useServerInfo()
  const { data: connections } = useResource((signal) => api('GET /git/connections', { signal }), {
    concerns: ({ kind }) => kind === 'git_connection' || kind === 'service',
  })
  return computed(() => {
    if (!info.value || !connections.value) return null
    if (connections.value.find(serves)?.push_events) return 'account'
    return info.value.gitprov_webhook_secret_set ? 'webhook' : 'none'
  })
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$|\.localhost$/

/** Where a provider delivers pushes. `isLocal`: no other machine can reach it there. */
export function webhookAddress(info: ServerInfo): { url: string; isLocal: boolean } {
  const { origin, hostname } = new URL(info.dashboard_url)
  const isLocal = LOOPBACK.test(hostname)
  // The user may have opened the dashboard at a better one.
  if (isLocal && !LOOPBACK.test(location.hostname))
    return { url: `${location.origin}/hooks/gitprov`, isLocal: false }
  return { url: `${origin}/hooks/gitprov`, isLocal }
}
