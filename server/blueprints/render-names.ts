import { scalarAt } from './builder.ts'
import { nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { ScalarNode } from './nodes.ts'

/** What the things of a file are called here: names are DNS labels, which theirs need not be. */
export class RenderNames {
  readonly #names = new Map<ForeignMapping, ScalarNode>()
  /** The types of those that have one, by the name that it has here. */
  readonly #types = new Map<string, string>()
  /** The groups of this place that have another name here. */
  readonly #renamed = new Map<string, string>()

  /** `taken` are the names of the groups of other places: here one name means one group. */
  constructor(
    holders: readonly ForeignMapping[],
    groups: readonly ForeignMapping[],
    environment: string | null,
    taken: Set<string>,
    notes: Notes,
  ) {
    for (const group of groups) {
      const given = group.scalar('name')
      if (given === undefined) continue
      const nearest = nearestName(given.text)
      const name = taken.has(nearest) ? nearestName(`${nearest}-${environment ?? 'ungrouped'}`) : nearest
      if (name !== given.text) warn(notes, given, `is named ${name} here`)
      if (name !== nearest) this.#renamed.set(nearest, name)
      this.#names.set(group, scalarAt(given.place, name))
    }
    for (const node of groups.map((group) => this.#names.get(group))) if (node) taken.add(node.text)
    for (const holder of holders) {
      const given = holder.scalar('name')
      if (given === undefined) continue
      const name = nearestName(given.text)
      if (name !== given.text) warn(notes, given, `is named ${name} here, as names are DNS labels`)
      this.#names.set(holder, scalarAt(given.place, name))
      this.#types.set(name, holder.text('type') ?? '')
    }
  }

  nameNode(holder: ForeignMapping): ScalarNode | undefined {
    return this.#names.get(holder)
  }

  /** What a group that a service of this place names is called here. */
  groupName(name: string): string {
    const nearest = nearestName(name)
    return this.#renamed.get(nearest) ?? nearest
  }

  /** Whether a service of this name is a key-value store, which is a datastore here. */
  isStore(name: string): boolean {
    return ['redis', 'keyvalue'].includes(this.#types.get(name) ?? '')
  }
}
