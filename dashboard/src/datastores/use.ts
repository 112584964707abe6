import { api } from '../api/client.ts'
import { useResource, type Resource } from '../api/resource.ts'
import type { Backup, Datastore, DatastoreReference } from '../api/types.ts'
import { listEnvironments } from '../environments/list.ts'
import { byName } from '../ui/by-name.ts'
import { datastoreRef } from './address.ts'

/** The datastores of every environment, those of production first, each environment's by name. */
export function useDatastores(): Resource<Datastore[]> {
  return useResource(
    async (signal) => {
      const environments = await listEnvironments(signal)
      const holders = environments.filter(({ datastores }) => datastores.length > 0)
      const lists = await Promise.all(
        holders.map(({ id }) => api('GET /datastores', { query: { environment: id }, signal })),
      )
      return lists.flatMap((list) => list.toSorted(byName))
    },
    { concerns: ({ kind }) => kind === 'datastore' },
  )
}

/** One datastore, by its reference in an address. */
export function useDatastore(address: () => string): Resource<Datastore> {
  return useResource((signal) => fetchDatastore(address(), signal), {
    key: address,
    concerns: (change, known) => change.kind === 'datastore' && (!known || change.id === known.id),
  })
}

async function fetchDatastore(address: string, signal: AbortSignal): Promise<Datastore> {
  const reference = datastoreRef(address)
  const [id, query] =
    'id' in reference ? [reference.id, {}] : [reference.name, { environment: reference.environment }]
  return api('GET /datastores/{id}', { id, query, signal })
}

/** The variables that refer to a datastore. */
export function useReferences(id: () => string): Resource<DatastoreReference[]> {
  return useResource((signal) => api('GET /datastores/{id}/references', { id: id(), signal }), {
    key: id,
    concerns: ({ kind }) => kind === 'service' || kind === 'env_group',
  })
}

/** The backups of a datastore, newest first. */
export function useBackups(id: () => string): Resource<Backup[]> {
  return useResource((signal) => api('GET /datastores/{id}/backups', { id: id(), signal }), {
    key: id,
    concerns: (change) => change.kind === 'datastore' && change.id === id(),
  })
}
