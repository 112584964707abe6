import type { Datastore } from '../api/types.ts'
import { qualifiedName, refOf, type Ref } from '../service/address.ts'

/** The server's ids; no name looks like one. */
const ID = /^dbs-[0-9a-f]{20}$/

/** Where a datastore is in the dashboard, with a section of it. */
export function datastorePath(datastore: Pick<Datastore, 'name' | 'environment'>, section = ''): string {
  return `/datastores/${qualifiedName(datastore)}${section === '' ? '' : `/${section}`}`
}

/** Reads what `qualifiedName` wrote, or the id of a datastore. */
export function datastoreRef(text: string): Ref {
  return refOf(text, ID)
}
