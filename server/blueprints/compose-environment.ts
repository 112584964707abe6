import { scalarAt } from './builder.ts'
import { warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node, ScalarNode } from './nodes.ts'

/** A variable of Compose. */
export interface ComposeVariable {
  key: string
  /** As it is written; null is one whose value comes from outside of the file. */
  written: string | null
  node: Node
}

/** A text with the defaults of what it interpolates. */
export interface Interpolated {
  text: string
  /** What it takes from outside of the file; nothing stands for it in the text. */
  missing: string[]
}

/** Reads `environment`, a mapping or a list of `KEY=value`. */
export function readEnvironment(program: ForeignMapping, notes: Notes): ComposeVariable[] {
  const node = program.take('environment')
  const all = node === undefined ? [] : pairsOf(node, notes)
  // Of a key that stands twice Compose takes the last.
  const last = new Map(all.map((variable) => [variable.key, variable]))
  return all.filter((variable) => {
    const counts = last.get(variable.key)!
    if (counts !== variable)
      warn(
        notes,
        variable.node,
        `${variable.key} stands again in line ${counts.node.place.line}, which counts`,
      )
    return counts === variable
  })
}

/** The pairs of a mapping, or of a list of `KEY=value`. */
export function pairsOf(node: Node, notes: Notes): ComposeVariable[] {
  if (node.kind === 'mapping')
    return [...node.entries].map(([key, value]) => ({
      key,
      written: value.kind === 'scalar' && (value.value !== null || value.text !== '') ? value.text : null,
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
        ? [{ key: item.text, written: null, node: item }]
        : [{ key: item.text.slice(0, at), written: item.text.slice(at + 1), node: item }]
    })
  notes.faults.add(node.place, 'must be a mapping, or a list of KEY=value')
  return []
}

/** `$$`, `$NAME`, `${NAME}`, and `${NAME:-default}` with the operators of a shell (compose-spec, "Interpolation"). */
const INTERPOLATION = /\$\$|\$(?:\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|([A-Za-z_]\w*))/g

export function interpolate(written: string): Interpolated {
  const missing = new Set<string>()
  const text = written.replaceAll(
    INTERPOLATION,
    (whole, name?: string, operator?: string, fallback?: string, bare?: string) => {
      if (whole === '$$') return '$'
      if (operator?.endsWith('-')) return fallback ?? ''
      missing.add(name ?? bare ?? '')
      return ''
    },
  )
  return { text, missing: [...missing] }
}

/** A field's text, interpolated; what takes something from outside of the file is left out with a warning. */
export function interpolated(node: ScalarNode | undefined, notes: Notes): ScalarNode | undefined {
  if (!node) return undefined
  const { text, missing } = interpolate(node.text)
  if (missing.length === 0) return scalarAt(node.place, text)
  warn(notes, node, `takes ${missing.join(', ')} from outside of the file: set it by hand`)
  return undefined
}
