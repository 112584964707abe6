import type { Change } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { callersReach } from './caller.ts'
import type { Reach } from './reach.ts'

/** Of the changes of everything, those that the caller of the current request may see. */
export function changesForCaller(changes: AsyncIterable<Change>): AsyncIterable<Change> {
  const reach = callersReach()
  return reach ? within(changes, reach, new Set(reached(reach))) : changes
}

/** `seen` has what was reached so far: a deletion is reported when nothing else says any more where it was. */
async function* within(
  changes: AsyncIterable<Change>,
  reach: Reach,
  seen: Set<string>,
): AsyncGenerator<Change> {
  for await (const change of changes) {
    const owner = change.service_id ?? change.id
    const isReached = OF_KIND[change.kind](reach, owner)
    if (isReached) seen.add(owner)
    if (isReached || seen.has(owner)) yield change
    if (change.action === 'deleted' && owner === change.id) seen.delete(owner)
  }
}

/** Whether what changed is reached, by kind. What a restricted caller may not read at all is not reported either. */
const OF_KIND: Record<Change['kind'], (reach: Reach, id: string) => boolean> = {
  service: (reach, id) => reach.service(id),
  deploy: (reach, id) => reach.service(id),
  job: (reach, id) => reach.service(id),
  datastore: (reach, id) => reach.datastore(id),
  env_group: (reach, id) => reach.envGroup(id),
  domain: () => true,
  // It says nothing but that everything is to be read again.
  all: () => true,
  git_connection: () => false,
  node: () => false,
  server: () => false,
}

function reached(reach: Reach): string[] {
  const ids = (table: string): string[] =>
    useDatabase()
      .all<{ id: string }>(`SELECT id FROM ${table}`)
      .map(({ id }) => id)
  return [
    ...ids('services').filter((id) => reach.service(id)),
    ...ids('datastores').filter((id) => reach.datastore(id)),
    ...ids('env_groups').filter((id) => reach.envGroup(id)),
  ]
}
