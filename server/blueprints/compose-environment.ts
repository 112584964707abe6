import { scalarAt } from './builder.ts'
import { warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node } from './nodes.ts'

/** A variable of Compose; null is one whose value comes from outside of the file. */
export interface ComposeVariable {
  key: string
  value: string | null
  node: Node
}

/** Reads `environment`, a mapping or a list of `KEY=value`, with what is interpolated. */
export function readEnvironment(program: ForeignMapping, notes: Notes): ComposeVariable[] {
  const node = program.take('environment')
  return node === undefined ? [] : pairsOf(node, notes).map((pair) => interpolated(pair, notes))
}

/** The pairs of a mapping, or of a list of `KEY=value`. */
export function pairsOf(node: Node, notes: Notes): ComposeVariable[] {
  if (node.kind === 'mapping')
    return [...node.entries].map(([key, value]) => ({
      key,
      value: value.kind === 'scalar' && (value.value !== null || value.text !== '') ? value.text : null,
      node: value,
    }))
  if (node.kind === 'list')
    return node.items.flatMap((item): ComposeVariable[] => {
      if (item.kind !== 'scalar') {
        notes.faults.add(item.place, 'must be KEY=value')
        return []
      }
      const at = item.text.indexOf('=')
      return at < 0
        ? [{ key: item.text, value: null, node: item }]
        : [{ key: item.text.slice(0, at), value: item.text.slice(at + 1), node: item }]
    })
  notes.faults.add(node.place, 'must be a mapping, or a list of KEY=value')
  return []
}

/** `$$`, `$NAME`, `${NAME}`, and `${NAME:-default}` with the operators of a shell (compose-spec, "Interpolation"). */
const INTERPOLATION = /\$\$|\$(?:\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|([A-Za-z_]\w*))/g

function interpolated({ key, value, node }: ComposeVariable, notes: Notes): ComposeVariable {
  if (value === null) {
    warn(notes, node, `${key} has its value outside of the file: set it by hand`)
    return { key, value, node }
  }
  const missing: string[] = []
  const text = value.replaceAll(
    INTERPOLATION,
    (whole, name?: string, operator?: string, fallback?: string, bare?: string) => {
      if (whole === '$$') return '$'
      if (operator?.endsWith('-')) return fallback ?? ''
      missing.push(name ?? bare ?? '')
      return ''
    },
  )
  if (missing.length === 0) return { key, value: text, node }
  warn(notes, node, `${key} takes ${missing.join(', ')} from outside of the file: set it by hand`)
  return { key, value: null, node }
}

/** A text of a file, with the defaults of what it interpolates. */
export function interpolate(node: Node & { kind: 'scalar' }, notes: Notes): Node & { kind: 'scalar' } {
  const { value } = interpolated({ key: node.place.path, value: node.text, node }, notes)
  return scalarAt(node.place, value ?? '')
}
