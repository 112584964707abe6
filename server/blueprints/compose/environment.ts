import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { missingIn, type ComposeScalar } from './interpolation.ts'

/** A variable of a Compose file; its value is null when it comes from outside of the file. */
export interface ComposeVariable {
  key: string
  value: ComposeScalar | null
  node: Node
}

/** Reads `environment`, a mapping or a list of `KEY=value`. */
export function readEnvironment(program: ForeignMapping, notes: Notes): ComposeVariable[] {
  const node = program.take('environment')
  const all = node === undefined ? [] : pairsOf(node, notes)
  // Compose takes the last of two with the same key.
  const last = new Map(all.map((variable) => [variable.key, variable]))
  return all.filter((variable) => {
    const counts = last.get(variable.key)!
    if (counts !== variable)
      warn(
        notes,
        variable.node,
        `${variable.key} is given again in line ${counts.node.place.line}, which counts`,
      )
    return counts === variable
  })
}

/** The pairs of a mapping, or of a list of `KEY=value`. */
export function pairsOf(node: Node, notes: Notes): ComposeVariable[] {
  if (node.kind === 'mapping')
    return [...node.entries].map(([key, value]) => ({ key, value: givenIn(value), node: value }))
  if (node.kind === 'list')
    return node.items.flatMap((item): ComposeVariable[] => {
      if (item.kind === 'scalar') return [splitPair(item)]
      notes.faults.add(item.place, 'must be KEY=value')
      return []
    })
  notes.faults.add(node.place, 'must be a mapping, or a list of KEY=value')
  return []
}

/** `KEY=value`, or a key alone. */
export function splitPair(item: ComposeScalar): ComposeVariable {
  const { text, written, marked } = item
  const at = text.indexOf('=')
  if (at < 0) return { key: text, value: null, node: item }
  const value = text.slice(at + 1)
  return {
    key: text.slice(0, at),
    value: {
      ...item,
      value,
      text: value,
      ...(written === undefined ? {} : { written: afterKey(written) }),
      ...(marked === undefined ? {} : { marked: afterKey(marked) }),
    },
    node: item,
  }
}

function afterKey(text: string): string {
  return text.slice(text.indexOf('=') + 1)
}

/** Nothing and null are values from outside of the file (compose-spec, "environment"). */
function givenIn(node: Node): ComposeScalar | null {
  return node.kind === 'scalar' && node.value !== null ? node : null
}

/** A field's text; one that takes something from outside of the file is left out with a warning. */
export function known(node: ScalarNode | undefined, notes: Notes): ScalarNode | undefined {
  if (!node) return undefined
  const missing = missingIn(node)
  if (missing.length === 0) return scalarAt(node.place, node.text)
  warn(notes, node, `takes ${missing.join(', ')} from outside of the file: set it by hand`)
  return undefined
}
