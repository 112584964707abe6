import type { Datastore } from '../api/types.ts'
import { qualifiedName, refOf, type Ref } from '../service/address.ts'

/** The server's ids; no name looks like one. */
const ID = /^dbs-[0-9a-f]{20}$/

/** The path of a datastore, or of one of its sections, in the dashboard. */
export function datastorePath(datastore: Pick<Datastore, 'name' | 'environment'>, section = ''): string {
  return `/datastores/${qualifiedName(datastore)}${section === '' ? '' : `/${section}`}`
}

/** Parses what `qualifiedName` returns, or the id of a datastore. */
export function datastoreRef(text: string): Ref {
  return refOf(text, ID)
}
