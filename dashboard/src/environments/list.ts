import { api } from '../api/client.ts'
import type { Environment } from '../api/types.ts'
import { byName } from '../ui/by-name.ts'

/** Every environment as the server has them now, production first, the others by name. */
export async function listEnvironments(signal: AbortSignal): Promise<Environment[]> {
  const all = await api('GET /environments', { signal })
  return [...all.slice(0, 1), ...all.slice(1).toSorted(byName)]
}
