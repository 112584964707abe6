import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { missingIn, type ComposeScalar } from './interpolation.ts'

/** A variable of a Compose file; its value is null when it comes from outside the file. */
export interface ComposeVariable {
  key: string
  value: ComposeScalar | null
  node: Node
}

/** Reads `environment`, a mapping or a list of `KEY=value`. */
export function readEnvironment(program: ForeignMapping, notes: Notes): ComposeVariable[] {
  const node = program.take('environment')
  const all = node === undefined ? [] : pairsOf(node, notes)
  // Compose uses the last of several with the same key.
  const last = new Map(all.map((variable) => [variable.key, variable]))
  return all.filter((variable) => {
    const used = last.get(variable.key)!
    if (used !== variable)
      warn(
        notes,
        variable.node,
        `${variable.key} is given again in line ${used.node.place.line}, which takes precedence`,
      )
    return used === variable
  })
}

/** The pairs of a mapping, or of a list of `KEY=value`. */
export function pairsOf(node: Node, notes: Notes): ComposeVariable[] {
  if (node.kind === 'mapping')
    return [...node.entries].flatMap(([key, value]): ComposeVariable[] => {
      if (value.kind === 'scalar') return [{ key, value: givenIn(value), node: value }]
      notes.faults.add(value.place, 'must be a plain value')
      return []
    })
  if (node.kind === 'list')
    return node.items.flatMap((item): ComposeVariable[] => {
      if (item.kind === 'scalar') return [splitPair(item)]
      notes.faults.add(item.place, 'must be KEY=value')
      return []
    })
  notes.faults.add(node.place, 'must be a mapping, or a list of KEY=value')
  return []
}

/** Splits `KEY=value`, or a key without a value. */
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

/** A missing or null value comes from outside the file (compose-spec, "environment"). */
function givenIn(node: ComposeScalar): ComposeScalar | null {
  return node.value === null ? null : node
}

/** A field's text; one that uses something from outside the file is left out with a warning. */
export function known(node: ScalarNode | undefined, notes: Notes): ScalarNode | undefined {
  if (!node) return undefined
  const missing = missingIn(node)
  if (missing.length === 0) return scalarAt(node.place, node.text)
  warn(notes, node, `uses ${missing.join(', ')} from outside the file: set it by hand`)
  return undefined
}
