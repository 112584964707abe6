import { Database, KeyRound } from '@lucide/vue'
import type { Datastore, DatastoreKind } from '../api/types.ts'

interface Presentation {
  label: string
  meaning: string
  icon: typeof Database
  /** The variable that usually holds its address in a service. */
  variable: string
}

/** How the kinds of datastores read. */
export const DATASTORE_KIND: Record<DatastoreKind, Presentation> = {
  relational: {
    label: 'PostgreSQL',
    meaning: 'A relational database',
    icon: Database,
    variable: 'DATABASE_URL',
  },
  keyvalue: {
    label: 'Key-value store',
    meaning: 'Valkey or Redis, kept on disk',
    icon: KeyRound,
    variable: 'REDIS_URL',
  },
}

/** What a datastore is: "PostgreSQL, version 18". */
export function kindText({ kind, version }: Pick<Datastore, 'kind' | 'version'>): string {
  return `${DATASTORE_KIND[kind].label}, version ${version}`
}
