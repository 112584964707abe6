import { api, apiUrl } from '../api/client.ts'
import { readEvents } from '../api/event-stream.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { ServerBackup, ServerLogEvent, ServerRestore, ServerSettings } from '../api/types.ts'

const concerns = ({ kind }: { kind: string }): boolean => kind === 'server'

/** The backups of the server, newest first. */
export function useServerBackups(): Resource<ServerBackup[]> {
  return useResource((signal) => api('GET /server/backups', { signal }), { concerns })
}

export function useServerSettings(): Resource<ServerSettings> {
  return useResource((signal) => api('GET /server/settings', { signal }), { concerns })
}

/** The restore that the server came from; null if it came from none. */
export function useServerRestore(): Resource<ServerRestore | null> {
  return useResource((signal) => api('GET /server/restore', { signal }), { concerns })
}

/** The newest warnings and errors of the server's log. */
export interface Warnings {
  /** How many there are, in words. */
  text: string
  newest: ServerLogEvent | null
}

/** As many as are counted one by one. */
const COUNTED = 100

export function useServerWarnings(): Resource<Warnings> {
  return useResource(async (signal) => {
    const found: ServerLogEvent[] = []
    const address = apiUrl('/server/logs', {}, { level: 'warn', tail: COUNTED })
    for await (const { event, data } of readEvents(address, signal))
      if (event === 'log') found.push(JSON.parse(data) as ServerLogEvent)
    const count = found.length === COUNTED ? `${COUNTED} or more` : String(found.length)
    const text = found.length === 1 ? '1 warning or error' : `${count} warnings and errors`
    return { text, newest: found.at(-1) ?? null }
  })
}
