import type { Datastore } from '#server/datastores/schema.ts'
import type { Call } from '../call.ts'
import { connect, type Api } from './api.ts'
import { pathTo, targetOf, type Target } from './target.ts'

/** The datastore that a command names, and the API that knows it. */
export interface FoundDatastore {
  api: Api
  target: Target
  datastore: Datastore
}

/** Finds the datastore that the first word names. Throws Fault. */
export async function findDatastore(call: Call): Promise<FoundDatastore> {
  const api = await connect(call)
  const target = targetOf(call, api, call.words[0]!)
  const query = { environment: target.environment }
  return { api, target, datastore: await api.get<Datastore>(pathTo('datastores', target), query) }
}
