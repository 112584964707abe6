import type { Place } from './faults.ts'

/** A value of a file with its place; the value of a key has the place of the key. */
export type Node = ScalarNode | ListNode | MappingNode

export interface ScalarNode {
  kind: 'scalar'
  place: Place
  value: string | number | boolean | null
  /** The text as it is written, without quotes. */
  text: string
}

export interface ListNode {
  kind: 'list'
  place: Place
  items: Node[]
}

export interface MappingNode {
  kind: 'mapping'
  place: Place
  entries: Map<string, Node>
}

/** The value without places. */
export function plain(node: Node): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(plain)
  return Object.fromEntries([...node.entries].map(([key, value]) => [key, plain(value)]))
}

/** Follows a path of keys as far as possible. Returns the last value found and the keys that remain. */
export function nodeAt(
  node: Node,
  path: readonly PropertyKey[],
): { node: Node; rest: readonly PropertyKey[] } {
  let at = node
  for (const [index, step] of path.entries()) {
    const next = childOf(at, step)
    if (next === undefined) return { node: at, rest: path.slice(index) }
    at = next
  }
  return { node: at, rest: [] }
}

/** The place at a path. For something missing, it is the place of what should contain it, with its own path. */
export function placeIn(root: Node, path: readonly PropertyKey[]): Place {
  const { node, rest } = nodeAt(root, path)
  const written = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return { ...node.place, path: `${node.place.path}${written}`.replace(/^\./, '') }
}

function childOf(node: Node, step: PropertyKey): Node | undefined {
  if (node.kind === 'list') return node.items[Number(step)]
  return node.kind === 'mapping' ? node.entries.get(String(step)) : undefined
}

/** Whether a value is missing, null or empty. */
export function isNothing(node: Node | undefined): boolean {
  return node === undefined || (node.kind === 'scalar' && node.value === null)
}

/** A copy of a mapping with one field, which is read separately, as an empty list. */
export function emptied(node: Node, field: string): Node {
  const held = node.kind === 'mapping' ? node.entries.get(field) : undefined
  if (node.kind !== 'mapping' || !held) return node
  return {
    ...node,
    entries: new Map(node.entries).set(field, { kind: 'list', place: held.place, items: [] }),
  }
}
