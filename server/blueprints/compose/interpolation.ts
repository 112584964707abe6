import type { Node, ScalarNode } from '../nodes.ts'

/** A text after interpolation, with the defaults of its variables. */
export interface Interpolated {
  /** The text with `ABSENT` for each value that comes from outside the file. */
  marked: string
  /** The variables of those values. */
  missing: string[]
}

/** A scalar of a Compose file after interpolation. */
export interface ComposeScalar extends ScalarNode {
  /** The text before interpolation. */
  written?: string
  /** The text with `ABSENT` for each value that comes from outside the file. */
  marked?: string
  missing?: readonly string[]
}

/** A private-use character, which has no meaning in any file (Unicode, 23.5). */
export const ABSENT = '\uE000'

/** A `${NAME:-` that is not closed yet, with the text before it. */
interface Open {
  name: string
  operator: string
  opening: string
  before: string
  missingBefore: number
}

/** `$$`, `$NAME`, `${NAME}`, the start of `${NAME:-default}` and its kin, or the end of one. */
const TOKEN = /\$\$|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?:\}|(:?[-?+]))|\}/g

/**
 * Interpolates as Compose does when no variable is set outside the file (compose-spec, "Interpolation"). Defaults may
 * contain variables with defaults. It takes one pass, however deeply braces are nested.
 */
export function interpolate(written: string): Interpolated {
  const open: Open[] = []
  const missing: string[] = []
  let text = ''
  let at = 0
  for (const match of written.matchAll(TOKEN)) {
    const [token, bare, braced, operator] = match
    text += written.slice(at, match.index)
    at = match.index + token.length
    if (token === '$$') text += '$'
    else if (operator !== undefined) {
      open.push({ name: braced!, operator, opening: token, before: text, missingBefore: missing.length })
      text = ''
    } else if (token !== '}') {
      text += ABSENT
      missing.push((bare ?? braced)!)
    } else if (open.length === 0) text += token
    else text = closed(open.pop()!, text, missing)
  }
  text += written.slice(at)
  // What is never closed is plain text.
  for (const { before, opening } of open.reverse()) text = before + opening + text
  return { marked: text, missing: [...new Set(missing)] }
}

/** The text up to the end of a braced variable; `word` is what follows its operator. */
function closed({ name, operator, before, missingBefore }: Open, word: string, missing: string[]): string {
  if (operator.endsWith('-')) return before + word
  missing.length = missingBefore
  // `+` gives its word only if the variable is set; `?` requires that it is.
  if (operator.endsWith('+')) return before
  missing.push(name)
  return before + ABSENT
}

/** A file with every text in it interpolated; keys are not (compose-spec, "Interpolation"). */
export function interpolateAll(node: Node): Node {
  if (node.kind === 'list') return { ...node, items: node.items.map(interpolateAll) }
  if (node.kind === 'mapping') {
    const entries = [...node.entries].map(([key, value]): [string, Node] => [key, interpolateAll(value)])
    return { ...node, entries: new Map(entries) }
  }
  if (typeof node.value !== 'string' || !node.text.includes('$')) return node
  const { marked, missing } = interpolate(node.text)
  const text = missing.length > 0 ? marked.replaceAll(ABSENT, '') : marked
  return { ...node, value: text, text, written: node.text, marked, missing } as ComposeScalar
}

/** The text of a scalar, with `ABSENT` for what comes from outside the file. */
export function markedIn({ text, marked }: ComposeScalar): string {
  return marked ?? text
}

/** The variables from outside the file that a text needs. */
export function missingIn(node: Node | undefined): readonly string[] {
  return (node?.kind === 'scalar' && (node as ComposeScalar).missing) || []
}

/** A text for comparisons: texts that use the same variables from outside the file are equal. */
export function writtenIn(node: ScalarNode): string {
  const { missing = [], written, text } = node as ComposeScalar
  return missing.length > 0 ? (written ?? text).replaceAll(REQUIRED, '${$1$2}') : text
}

/** `$NAME` and `${NAME:?message}`, which mean the same as `${NAME}` when it is set. */
const REQUIRED = /\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*):?\?[^${}]*\}/g
