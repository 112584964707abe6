import type { EnvGroup, EnvVar } from '../api/types.ts'

/** A variable of a linked group, and whether it takes effect in the service. */
export interface GroupVariable extends EnvVar {
  /** What overrides it: the service's own variable, or a group; null if this one takes effect. */
  winner: { kind: 'own' } | { kind: 'group'; name: string } | null
}

export interface LinkedGroup {
  id: string
  name: string
  variables: GroupVariable[]
}

/**
 * The linked groups with their variables, those that win over others first. A service's own variables win over those of
 * its groups, a group that was linked later over one linked earlier.
 */
export function linkedGroups(
  groups: readonly Pick<EnvGroup, 'id' | 'name' | 'vars'>[],
  linked: readonly string[],
  own: ReadonlySet<string>,
): LinkedGroup[] {
  const winners = new Map<string, string>()
  const result: LinkedGroup[] = []
  for (const name of [...linked].reverse()) {
    const group = groups.find((candidate) => candidate.name === name)
    if (!group) continue
    const variables = group.vars.map(({ key, value }): GroupVariable => {
      const later = winners.get(key)
      if (own.has(key)) return { key, value, winner: { kind: 'own' } }
      return { key, value, winner: later === undefined ? null : { kind: 'group', name: later } }
    })
    for (const { key } of group.vars) if (!winners.has(key)) winners.set(key, name)
    result.push({ id: group.id, name, variables })
  }
  return result
}
