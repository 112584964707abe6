import { inject, provide, type InjectionKey, type ShallowRef } from 'vue'
import { api } from './client.ts'
import { useResource } from './resource.ts'
import type { ServerInfo } from './types.ts'

type KnownInfo = ShallowRef<ServerInfo | undefined>

const KEY: InjectionKey<KnownInfo> = Symbol('server info')

/** Asks what the server is, and whether its engine answers, for the components below. */
export function provideServerInfo(): KnownInfo {
  const { data } = useResource((signal) => api('GET /info', { signal }), {
    concerns: ({ kind }) => kind === 'git_connection',
  })
  provide(KEY, data)
  return data
}

/** What the server is; undefined until it has answered. */
export function useServerInfo(): KnownInfo {
  const info = inject(KEY)
  if (!info) throw new Error('there is no server info outside the shell')
  return info
}
