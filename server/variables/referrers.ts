import { callersReach } from '../access/caller.ts'
import { AppError } from '../errors.ts'
import type { TargetKind } from './references.ts'
import { referrersOf } from './store.ts'

/** How many references one message lists. The rest are reported when these are gone. */
const MAX_LISTED = 20

/**
 * Refuses an operation that would break references to a name. Throws `conflict` with a list of them and, at the end, what to
 * do instead.
 */
export function assertUnreferenced(
  kind: TargetKind,
  environmentId: string,
  name: string,
  remedy: string,
): void {
  const fault = referenceFault(kind, environmentId, name)
  if (fault !== null) throw new AppError('conflict', `${fault}${remedy}`)
}

/** Lists the variables that refer to something in an environment, as a message; null when there are none. */
export function referenceFault(kind: TargetKind, environmentId: string, name: string): string | null {
  const referrers = referrersOf(kind, environmentId, name)
  if (referrers.length === 0) return null
  const reach = callersReach()
  // A group is only reached by one of its services, so it is not named to who may not name all of an environment.
  const named = reach && !reach.holdsEnvironments ? [] : referrers
  if (named.length === 0) return `${kind} ${name} is referred to by variables of other services`
  const listed = named.slice(0, MAX_LISTED).map(({ holder, name, key }) => `${key} of ${holder} ${name}`)
  const more = named.length > MAX_LISTED ? ` and ${named.length - MAX_LISTED} more` : ''
  return `${kind} ${name} is referred to by ${listed.join(', ')}${more}: change them first`
}
