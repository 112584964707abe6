import { inject, provide, type InjectionKey } from 'vue'
import { api } from './client.ts'
import { useResource, type Resource } from './resource.ts'
import type { ServerInfo } from './types.ts'

const KEY: InjectionKey<Resource<ServerInfo>> = Symbol('server info')

/** Asks what the server is, and whether its engine answers, for the components below. */
export function provideServerInfo(): Resource<ServerInfo> {
  const info = useResource((signal) => api('GET /info', { signal }), {
    concerns: ({ kind }) => kind === 'git_connection',
  })
  provide(KEY, info)
  return info
}

/** What the server is. */
export function useServerInfo(): Resource<ServerInfo> {
  const info = inject(KEY)
  if (!info) throw new Error('there is no server info outside the shell')
  return info
}
