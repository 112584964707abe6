import type { Faults } from './faults.ts'
import { isNothing, type ListNode, type MappingNode, type Node, type ScalarNode } from './nodes.ts'

/** The faults and warnings of a file in a foreign format. */
export interface Notes {
  faults: Faults
  warnings: string[]
}

/** Warns of something that has no counterpart here, or that works differently here. */
export function warn({ warnings }: Notes, { place }: Node, message: string): void {
  const warning = `line ${place.line}: ${place.path === '' ? '' : `${place.path}: `}${message}`
  const seen = seenWarnings.get(warnings) ?? new Set(warnings)
  seenWarnings.set(warnings, seen)
  if (seen.has(warning)) return
  seen.add(warning)
  warnings.push(warning)
}

/** The warnings in each list as a set, since a file may have tens of thousands. */
const seenWarnings = new WeakMap<string[], Set<string>>()

/** A mapping of a foreign format. The code that handles a field takes it; at the end, all other fields get a warning. */
export class ForeignMapping {
  readonly node: MappingNode
  readonly #notes: Notes
  readonly #taken = new Set<string>()

  constructor(node: MappingNode, notes: Notes) {
    this.node = node
    this.#notes = notes
  }

  /** Takes a field as it is; undefined when it is missing or null. */
  take(field: string): Node | undefined {
    this.#taken.add(field)
    const node = this.node.entries.get(field)
    return isNothing(node) ? undefined : node
  }

  /** Takes a plain value; anything else is a fault. */
  scalar(field: string): ScalarNode | undefined {
    const node = this.take(field)
    if (node === undefined || node.kind === 'scalar') return node
    this.#notes.faults.add(node.place, 'must be a plain value')
    return undefined
  }

  text(field: string): string | undefined {
    return this.scalar(field)?.text
  }

  list(field: string): ListNode['items'] {
    const node = this.take(field)
    if (node === undefined) return []
    if (node.kind === 'list') return node.items
    this.#notes.faults.add(node.place, 'must be a list')
    return []
  }

  mapping(field: string): ForeignMapping | undefined {
    const node = this.take(field)
    if (node === undefined) return undefined
    if (node.kind === 'mapping') return new ForeignMapping(node, this.#notes)
    this.#notes.faults.add(node.place, 'must be a mapping')
    return undefined
  }

  /** Takes the mappings of a list. */
  mappings(field: string): ForeignMapping[] {
    return this.list(field).flatMap((item) => {
      if (item.kind === 'mapping') return [new ForeignMapping(item, this.#notes)]
      this.#notes.faults.add(item.place, 'must be a mapping')
      return []
    })
  }

  /** Warns of every field that was not taken; `known` has specific warnings for some. */
  end(known: Record<string, string> = {}): void {
    for (const [field, node] of this.node.entries) {
      if (this.#taken.has(field) || field.startsWith('x-')) continue
      warn(this.#notes, node, lookUp(known, field) ?? 'has no counterpart here and is left out')
    }
  }
}

/** The closest name that is allowed here, a DNS label. */
export function nearestName(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 63)
    .replace(/-$/, '')
  return label === '' ? name : label
}

/** A path in the form used here: relative, without a leading `./`. */
export function plainPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length === 0 ? '.' : parts.join('/')
}

/** Looks up a word of the file in a table; words such as `constructor` are not found. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}
