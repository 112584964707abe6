import type { Faults } from './faults.ts'
import { isNothing, type ListNode, type MappingNode, type Node, type ScalarNode } from './nodes.ts'

/** What has to be said about a foreign file that is read. */
export interface Notes {
  faults: Faults
  warnings: string[]
}

/** Says what had no counterpart, or is not quite the same here. */
export function warn({ warnings }: Notes, { place }: Node, message: string): void {
  const warning = `line ${place.line}: ${place.path === '' ? '' : `${place.path}: `}${message}`
  const seen = given.get(warnings) ?? new Set(warnings)
  given.set(warnings, seen)
  if (seen.has(warning)) return
  seen.add(warning)
  warnings.push(warning)
}

/** The warnings of each list: a file may have tens of thousands. */
const given = new WeakMap<string[], Set<string>>()

/** A mapping of a foreign format: each field is taken by what understands it; what nobody took is told at the end. */
export class ForeignMapping {
  readonly node: MappingNode
  readonly #notes: Notes
  readonly #taken = new Set<string>()

  constructor(node: MappingNode, notes: Notes) {
    this.node = node
    this.#notes = notes
  }

  /** A field as it stands there; undefined when it is left out or says nothing. */
  take(field: string): Node | undefined {
    this.#taken.add(field)
    const node = this.node.entries.get(field)
    return isNothing(node) ? undefined : node
  }

  /** A plain value; anything else is a fault. */
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

  /** The mappings of a list. */
  mappings(field: string): ForeignMapping[] {
    return this.list(field).flatMap((item) => {
      if (item.kind === 'mapping') return [new ForeignMapping(item, this.#notes)]
      this.#notes.faults.add(item.place, 'must be a mapping')
      return []
    })
  }

  /** Warns of every field that nobody took; `known` says more of some. */
  end(known: Record<string, string> = {}): void {
    for (const [field, node] of this.node.entries) {
      if (this.#taken.has(field) || field.startsWith('x-')) continue
      warn(this.#notes, node, lookUp(known, field) ?? 'has no counterpart here and is left out')
    }
  }
}

/** A name of the server's own that is nearest to another one: a DNS label. */
export function nearestName(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 63)
    .replace(/-$/, '')
  return label === '' ? name : label
}

/** A path as it is written here: relative, without `./` in front. */
export function plainPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return parts.length === 0 ? '.' : parts.join('/')
}

/** What a table says of a word of the file; words such as `constructor` are in none. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}
