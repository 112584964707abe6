import { scalarAt } from '../builder.ts'
import { warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { known } from './environment.ts'

/** A command as Compose starts it. */
interface Words {
  words: string[]
  /** The command as a line for a shell: the text of the file if a shell splits it into the same words. */
  line: string
}

/** The shell line for `field` that starts what `entrypoint` and `command` start, if the file names a program. */
export function readCommand(
  program: ForeignMapping,
  field: 'start_command' | 'pre_deploy_command',
  notes: Notes,
): ScalarNode | undefined {
  const entryPoint = program.take('entrypoint')
  const command = program.take('command')
  const parts = [entryPoint, command].map((node) => partOf(node, notes))
  const node = command ?? entryPoint
  const [entry, given] = parts
  if (node === undefined || parts.includes('unknown')) return undefined
  const lines = [entry, given].flatMap((part) => (typeof part === 'object' && part.line !== '' ? [part] : []))
  if (lines.length === 0) {
    warn(notes, node, 'is empty: here the image starts its own program, with its own arguments')
    return undefined
  }
  if (lines[0]!.words[0]!.startsWith('-')) {
    warn(
      notes,
      node,
      `only has arguments for the image's program: put that program in front of them, in ${field}`,
    )
    return undefined
  }
  if (entry === undefined)
    warn(notes, node, `${field} also replaces the image's entry point: put that first if the image has one`)
  return scalarAt(node.place, lines.map(({ line }) => line).join(' '))
}

/** Undefined if the file does not have it; `unknown` if it uses something from outside the file. */
function partOf(node: Node | undefined, notes: Notes): Words | 'unknown' | undefined {
  if (node === undefined) return undefined
  const scalars = node.kind === 'list' ? node.items : [node]
  for (const scalar of scalars) {
    if (scalar.kind !== 'scalar') {
      notes.faults.add(scalar.place, 'must be plain words')
      return 'unknown'
    }
    if (!known(scalar, notes)) return 'unknown'
  }
  return wordsOf(node)
}

/** The words of a command: Compose splits a text as a shell does, but expands nothing in it. */
export function wordsOf(node: Node | undefined, textOf = ({ text }: ScalarNode) => text): Words {
  if (node?.kind === 'list') {
    const words = node.items.map((item) => (item.kind === 'scalar' ? textOf(item) : ''))
    return { words, line: words.map(quoted).join(' ') }
  }
  if (node?.kind !== 'scalar') return { words: [], line: '' }
  const text = textOf(node)
  const { words, isPlain } = split(text)
  return { words, line: isPlain ? text.trim() : words.map(quoted).join(' ') }
}

/** Parts of a word (POSIX shell, 2.2 "Quoting"): a quoted text, an escaped character, or plain characters. */
const PART = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)|(\s+)|([^])/g
/** Words that need no quotes in a shell. */
const SAFE = /^[\w@%+=:,./-]*$/

/** Splits a text into words. It is plain if a shell would split it into the same words. */
function split(text: string): { words: string[]; isPlain: boolean } {
  const words: string[] = []
  let word: string | undefined
  let isPlain = true
  for (const [whole, single, double, escaped, bare, space] of text.trim().matchAll(PART)) {
    if (space !== undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
      isPlain &&= !/[\r\n]/.test(space)
      continue
    }
    const part = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? whole
    isPlain &&=
      single !== undefined ||
      (double !== undefined && !/[$`\\]/.test(double)) ||
      (bare !== undefined && SAFE.test(bare))
    word = (word ?? '') + part
  }
  if (word !== undefined) words.push(word)
  return { words, isPlain }
}

function quoted(word: string): string {
  return word !== '' && SAFE.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
