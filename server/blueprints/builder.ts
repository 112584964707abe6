import type { Place } from './faults.ts'
import type { ListNode, MappingNode, Node, ScalarNode } from './nodes.ts'

/** Creates a value of the native dialect in the place of a value of another dialect. */
export function scalarAt(place: Place, value: string | number | boolean | null): ScalarNode {
  return { kind: 'scalar', place, value, text: value === null ? '' : String(value) }
}

/** A literal text: a `${{` in it is escaped as `$${{`, since here `${{` begins a reference. */
export function literalAt(place: Place, text: string): ScalarNode {
  return scalarAt(place, literal(text))
}

export function literal(text: string): string {
  return text.replaceAll('${{', () => '$${{')
}

/** A list, or undefined when there are no items. */
export function someAt(place: Place, items: Node[]): ListNode | undefined {
  return items.length === 0 ? undefined : listAt(place, items)
}

export function listAt(place: Place, items: Node[]): ListNode {
  return { kind: 'list', place, items }
}

/** A mapping of the fields that are not undefined. */
export function mappingAt(place: Place, fields: Record<string, Node | undefined>): MappingNode {
  const entries = Object.entries(fields).filter((entry): entry is [string, Node] => entry[1] !== undefined)
  return { kind: 'mapping', place, entries: new Map(entries) }
}
