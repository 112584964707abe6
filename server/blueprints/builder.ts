import type { Place } from './faults.ts'
import type { ListNode, MappingNode, Node, ScalarNode } from './nodes.ts'

/** Makes values of the native dialect that stand where those of another one do. */
export function scalarAt(place: Place, value: string | number | boolean | null): ScalarNode {
  return { kind: 'scalar', place, value, text: value === null ? '' : String(value) }
}

/** A text that is meant as it stands: here `${{` begins a reference, and `$${{` is how it is written itself. */
export function literalAt(place: Place, text: string): ScalarNode {
  return scalarAt(place, literal(text))
}

export function literal(text: string): string {
  return text.replaceAll('${{', () => '$${{')
}

/** A list where there is something to list. */
export function someAt(place: Place, items: Node[]): ListNode | undefined {
  return items.length === 0 ? undefined : listAt(place, items)
}

export function listAt(place: Place, items: Node[]): ListNode {
  return { kind: 'list', place, items }
}

/** A mapping of what there is; what is undefined is left out. */
export function mappingAt(place: Place, fields: Record<string, Node | undefined>): MappingNode {
  const entries = Object.entries(fields).filter((entry): entry is [string, Node] => entry[1] !== undefined)
  return { kind: 'mapping', place, entries: new Map(entries) }
}
