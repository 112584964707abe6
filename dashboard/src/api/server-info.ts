import { inject, provide, type InjectionKey } from 'vue'
import { api } from './client.ts'
import { useResource, type Resource } from './resource.ts'
import type { ServerInfo } from './types.ts'

const KEY: InjectionKey<Resource<ServerInfo>> = Symbol('server info')

/** Fetches the server info, and with it whether the engine answers, for the components below. */
export function provideServerInfo(): Resource<ServerInfo> {
  const info = useResource((signal) => api('GET /info', { signal }), {
    concerns: ({ kind }) => kind === 'git_connection',
  })
  provide(KEY, info)
  return info
}

/** The server info. */
export function useServerInfo(): Resource<ServerInfo> {
  const info = inject(KEY)
  if (!info) throw new Error('there is no server info outside the shell')
  return info
}
