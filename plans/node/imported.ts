import { linesOf } from '../source/text.ts'

/** What a file of JavaScript or TypeScript takes from other files and packages. */
export interface Taken {
  names: ReadonlySet<string>
  /** Whether it also loads what it finds out only when it runs. */
  isOpen: boolean
}

/** What a line imports; imports of types do not exist at run time. */
const STATEMENTS = /(?:^|[\s;}*])(?:from|import) ?["']([^"'\n]+)["']/g
const OF_TYPES = /^\s*(?:import|export) type\b/

/** Calls that load; neither methods nor longer names. */
const CALLS = /(?<![\w$.])(?:require|import) ?\(/g

/** How much before a call shows whether it is in a comment, and after it, what it loads. */
const SHOWN_CHARACTERS = 200
const MAX_ARGUMENT_CHARACTERS = 2_000

/** Reads what a file takes; nothing behind the first open call, after which no name matters. */
export function takenBy(text: string): Taken {
  const names = new Set<string>()
  for (const line of linesOf(text)) {
    if (OF_TYPES.test(line)) continue
    for (const [, name] of line.matchAll(STATEMENTS)) names.add(name!)
  }
  for (const call of text.matchAll(CALLS)) {
    if (isComment(text.slice(Math.max(0, call.index - SHOWN_CHARACTERS), call.index))) continue
    const start = call.index + call[0].length
    const name = literalOf(text.slice(start, start + MAX_ARGUMENT_CHARACTERS))
    if (name === null) return { names, isOpen: true }
    names.add(name)
  }
  return { names, isOpen: false }
}

/** Returns the first argument of a call, without quotes; null where that is not a plain text. */
function literalOf(text: string): string | null {
  const at = skipBlank(text, 0)
  const quote = text[at]
  if (quote !== '"' && quote !== "'" && quote !== '`') return null
  const end = text.indexOf(quote, at + 1)
  const value = text.slice(at + 1, end)
  if (end === -1 || /[\n\\]|\$\{/.test(value)) return null
  const next = text[skipBlank(text, end + 1)]
  return next === ')' || next === ',' ? value : null
}

/** Returns where whitespace and comments, such as those for bundlers, end. */
function skipBlank(text: string, start: number): number {
  for (let at = start; ;) {
    while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1
    const isBlock = text.startsWith('/*', at)
    if (!isBlock && !text.startsWith('//', at)) return at
    const end = text.indexOf(isBlock ? '*/' : '\n', at + 2)
    if (end === -1) return text.length
    at = isBlock ? end + 2 : end
  }
}

/** Whether a comment has begun in the line that ends a text, and not ended. */
function isComment(text: string): boolean {
  const line = text.slice(text.lastIndexOf('\n') + 1).trimStart()
  const isBlock = /^(?:\/\*|\*(?:\s|$))/.test(line) && !line.includes('*/', 1)
  return isBlock || line.startsWith('//') || line.includes(' // ')
}
