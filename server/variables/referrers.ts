import { AppError } from '../errors.ts'
import type { TargetKind } from './references.ts'
import { referrersOf } from './store.ts'

/** References told in one message; who has more sees the rest when these are gone. */
const MAX_TOLD = 20

/**
 * Refuses what would break references to a name while variables refer to it. Throws `conflict` that lists them and ends
 * with what to do instead.
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

/** Whose variables refer to something of an environment, in words; null when none do. */
export function referenceFault(kind: TargetKind, environmentId: string, name: string): string | null {
  const referrers = referrersOf(kind, environmentId, name)
  if (referrers.length === 0) return null
  const told = referrers.slice(0, MAX_TOLD).map(({ holder, name, key }) => `${key} of ${holder} ${name}`)
  const more = referrers.length > MAX_TOLD ? ` and ${referrers.length - MAX_TOLD} more` : ''
  return `${kind} ${name} is referred to by ${told.join(', ')}${more}: change them first`
}
