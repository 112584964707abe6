import { onScopeDispose } from 'vue'
import { onChange } from '../api/changes.ts'
import { api } from '../api/client.ts'
import { keepFresh } from '../api/keep-fresh.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { Change, Overview, OverviewEntry } from '../api/types.ts'

/** At most one reading in this time, however fast changes follow each other during deploys. */
const MIN_PAUSE_MS = 1_000
const KINDS: readonly Change['kind'][] = ['service', 'deploy', 'job', 'datastore']

/**
 * The overview of an environment, or of all of them for null: read again after each change, and with new figures whenever
 * the server has measured.
 */
export function useOverview(environment: () => string | null): Resource<Overview> {
  let before: Overview | undefined
  const resource = useResource(
    async (signal) => {
      const name = environment()
      const read = await (name === null
        ? api('GET /overview', { signal })
        : api('GET /environments/{id}/overview', { id: name, signal }))
      return (before = withKnown(read, before))
    },
    { key: environment },
  )
  let due: ReturnType<typeof setTimeout> | undefined
  onChange(({ kind }) => {
    if (!KINDS.includes(kind)) return
    due ??= setTimeout(() => {
      due = undefined
      resource.reload()
    }, MIN_PAUSE_MS)
  })
  onScopeDispose(() => clearTimeout(due))
  keepFresh(resource.reload)
  return resource
}

/** Entries that are as before stay the same objects, so that their rows are not rendered again. */
function withKnown(now: Overview, before: Overview | undefined): Overview {
  const known = new Map(before?.entries.map((entry) => [entry.id, entry]))
  const entries = now.entries.map((entry): OverviewEntry => {
    const former = known.get(entry.id)
    return former && JSON.stringify(former) === JSON.stringify(entry) ? former : entry
  })
  return { ...now, entries }
}
