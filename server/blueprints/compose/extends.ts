import { mappingAt, scalarAt } from '../builder.ts'
import type { Notes } from '../foreign.ts'
import { isNothing, type MappingNode, type Node } from '../nodes.ts'
import { splitPair } from './environment.ts'
import { targetOf } from './volumes.ts'

/** Fields whose list replaces the base's list, such as the words of a command (compose-spec, "Merge"). */
const REPLACED = new Set(['command', 'entrypoint', 'test'])
/** Fields that are pairs of a key and a value, as a mapping or as a list. */
const PAIRS = new Set(['environment', 'labels', 'args', 'sysctls', 'annotations', 'extra_hosts'])

/** The services of a file, each merged with the service of the same file that it extends. */
export function withExtended(services: MappingNode, notes: Notes): MappingNode {
  const done = new Map<string, Node>()
  const under = new Set<string>()
  const extended = (name: string, node: Node): Node => {
    const known = done.get(name)
    if (known) return known
    const base = node.kind === 'mapping' ? baseOf(node, services, notes) : undefined
    if (node.kind !== 'mapping' || !base) return node
    if (under.has(name)) {
      notes.faults.add(node.place, `${name} extends itself`)
      return node
    }
    under.add(name)
    const from = extended(base.name, base.node)
    under.delete(name)
    const own = new Map(node.entries)
    own.delete('extends')
    const moved = movedTo(node.place.path, from)
    const merged = moved.kind === 'mapping' ? merge(moved, { ...node, entries: own }) : node
    done.set(name, merged)
    return merged
  }
  const entries = [...services.entries].map(([name, node]): [string, Node] => [name, extended(name, node)])
  return { ...services, entries: new Map(entries) }
}

/** The service that a service extends; undefined when that is in another file. */
function baseOf(
  { entries }: MappingNode,
  services: MappingNode,
  { faults }: Notes,
): { name: string; node: Node } | undefined {
  const node = entries.get('extends')
  if (node === undefined || isNothing(node)) return undefined
  const named = node.kind === 'mapping' ? node.entries.get('service') : node
  const isElsewhere = node.kind === 'mapping' && !isNothing(node.entries.get('file'))
  const name = named?.kind === 'scalar' ? named.text : ''
  if (isElsewhere) return undefined
  const base = services.entries.get(name)
  if (base) return { name, node: base }
  faults.add(node.place, `extends ${name === '' ? 'nothing' : name}, which is not in this file`)
  return undefined
}

/** A base at the path of the service that extends it, which warnings name; its lines stay. */
function movedTo(path: string, base: Node): Node {
  const from = base.place.path.length
  const moved = (node: Node): Node => {
    const place = { ...node.place, path: path + node.place.path.slice(from) }
    if (node.kind === 'list') return { ...node, place, items: node.items.map(moved) }
    if (node.kind === 'scalar') return { ...node, place }
    return { ...node, place, entries: new Map([...node.entries].map(([key, value]) => [key, moved(value)])) }
  }
  return moved(base)
}

function merge(base: MappingNode, own: MappingNode): MappingNode {
  const entries = new Map(base.entries)
  for (const [field, node] of own.entries) {
    const there = entries.get(field)
    entries.set(field, there === undefined ? node : mergeField(field, there, node))
  }
  return { ...own, entries }
}

function mergeField(field: string, base: Node, own: Node): Node {
  if (PAIRS.has(field) && base.kind !== own.kind) return mergeField(field, asMapping(base), asMapping(own))
  if (base.kind === 'mapping' && own.kind === 'mapping') return merge(base, own)
  if (base.kind !== 'list' || own.kind !== 'list' || REPLACED.has(field)) return own
  const keyIn = PAIRS.has(field) ? keyOf : field === 'volumes' ? targetOf : null
  const keys = new Set(keyIn ? own.items.map(keyIn) : [])
  const kept = base.items.filter((item) => !keyIn || !keys.has(keyIn(item)))
  return { ...own, items: [...kept, ...own.items] }
}

function keyOf(item: Node): string {
  return item.kind === 'scalar' ? item.text.split('=', 1)[0]! : ''
}

/** A list of `KEY=value` as a mapping; a key without a value gets null, since its value comes from outside. */
function asMapping(node: Node): Node {
  if (node.kind !== 'list') return node
  const pairs = node.items.flatMap((item): [string, Node][] => {
    if (item.kind !== 'scalar') return []
    const { key, value } = splitPair(item)
    return [[key, value ?? scalarAt(item.place, null)]]
  })
  return mappingAt(node.place, Object.fromEntries(pairs))
}
