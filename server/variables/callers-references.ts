import { callersReach, noted } from '../access/caller.ts'
import type { ServiceRow } from '../services/store.ts'
import { useDatabase } from '../context.ts'
import type { Reference } from './references.ts'

/** What someone who changes variables may learn from them about other services and datastores. */
export interface ReferenceSight {
  /** Whether a service's own variable may not refer to something, so that it is as if that did not exist. */
  isHidden(holder: ServiceRow, reference: Reference, environment: string): boolean
  /** Whether messages may name a service and its variables. */
  mayName(service: ServiceRow): boolean
}

/** For work that no restricted caller asked for. */
export const WHOLE_SIGHT: ReferenceSight = { isHidden: () => false, mayName: () => true }

/**
 * What the caller of the current request may refer to. Restricted to services, they may not add a reference to anything else:
 * its value would be in their own containers. References that were there before stay.
 */
export function callersReferenceSight(): ReferenceSight {
  const reach = callersReach()
  if (!reach || reach.holdsEnvironments) return WHOLE_SIGHT
  return {
    isHidden(holder, reference, environment) {
      const before = noted<Set<string>>(holder.id)
      if (!before || before.has(keyOf(reference))) return false
      return reference.kind === 'datastore' || !reach.serviceNamed(reference.name, environment)
    },
    mayName: ({ id }) => reach.service(id),
  }
}

/** Remembers, for a restricted caller, what a holder refers to before its variables are written. */
export function noteReferences(holder: string): void {
  if (!callersReach()) return
  noted(holder, () => {
    const rows = useDatabase().all<Pick<Reference, 'kind' | 'name' | 'property'>>(
      'SELECT kind, name, property FROM variable_references WHERE holder = ?',
      holder,
    )
    return new Set(rows.map(keyOf))
  })
}

function keyOf({ kind, name, property }: Pick<Reference, 'kind' | 'name' | 'property'>): string {
  return `${kind} ${name} ${property}`
}
