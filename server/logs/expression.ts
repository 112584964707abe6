import { RE2JS } from 're2js'
import { messageOf } from '../errors.ts'

/** An expression in RE2's syntax. */
export interface Expression {
  expression: string
  ignoreCase: boolean
}

/** Limit in instructions of RE2's compiled program: the time to match a line is at most its length times this. */
const MAX_PROGRAM = 2_500
/**
 * Limit for the length with all repetitions written out. A longer one would not fit the program limit, and takes as long to
 * compile.
 */
const MAX_EXPANDED_LENGTH = 4 * MAX_PROGRAM
/** Splits an expression into literal runs, escapes, classes, repetitions and single characters (RE2's syntax). */
const TOKENS =
  /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]?|\{(?<min>\d+)(?:,(?<max>\d*))?\}|./gsu
/** Escapes for a class, a position or a control character, which are complete after one letter. */
const SIMPLE_ESCAPE = /^\\[dDsSwWbBAztnrfvaC]$/
const REPETITION = /^(?:[*?]|\{\d+(?:,\d*)?\})$/
/** Characters to pre-filter lines by. Only these: other characters may have no one-to-one mapping between cases. */
const PLAIN = /^[ -~]$/
/** The same without s, for matching in any case: ſ matches s too, but is not s in lower case. */
const PLAIN_IN_ANY_CASE = /^[ -RT-rt-~]$/

/** Compiles an expression to a test for a text. Throws an error that says why it cannot be used. */
export function compileExpression({ expression, ignoreCase }: Expression): (text: string) => boolean {
  try {
    if (expandedLength(expression) > MAX_EXPANDED_LENGTH)
      throw new Error('it is too large: repeat less in it')
    const compiled = RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_PROGRAM) throw new Error('it is too large: repeat less in it')
    return (text: string) => compiled.test(text)
  } catch (cause) {
    throw new Error(
      `the expression cannot be used (RE2 syntax, without look-around and backreferences): ${messageOf(cause)}`,
      { cause },
    )
  }
}

/** The length of an expression with all repetitions written out. */
function expandedLength(expression: string): number {
  const outer: number[] = []
  let length = 0
  let last = 0
  for (const { 0: token, groups } of expression.matchAll(TOKENS)) {
    const times = groups?.min === undefined ? null : Math.max(Number(groups.min), Number(groups.max ?? 0))
    if (token === '(') {
      outer.push(length)
      length = last = 0
    } else if (token === ')' && outer.length > 0) {
      last = length + 1
      length = outer.pop()! + last
    } else {
      // The repeated part was already counted once.
      const added = times === null ? (token.startsWith('\\Q') ? token.length : 1) : last * times - last
      length += Math.max(0, added)
      last = times === null ? added : last * times
    }
  }
  return outer.reduce((sum, each) => sum + each, length)
}

/**
 * A text that must occur in each line that the expression matches, in some case; empty when there is none. Uses the longest
 * literal outside of all groups: the text should be rare, it need not be complete.
 */
export function requiredText({ expression, ignoreCase }: Expression): string {
  const plain = ignoreCase || expression.includes('(?') ? PLAIN_IN_ANY_CASE : PLAIN
  let longest = ''
  let run: string[] = []
  let depth = 0
  const end = () => {
    if (run.length > longest.length) longest = run.join('')
    run = []
  }
  for (const [token] of expression.matchAll(TOKENS)) {
    if (token === '|' && depth === 0) return ''
    if (token === ')') depth--
    const literal = literalOf(token)
    // The characters that follow such an escape may belong to it: \pL, \x41.
    if (literal === null) return ''
    if (REPETITION.test(token)) run.pop()
    const isPart = depth === 0 && literal !== '' && [...literal].every((character) => plain.test(character))
    if (isPart) run.push(...literal)
    else end()
    if (token === '(') depth++
  }
  end()
  return longest
}

/** The literal text of a token; empty when it is not a literal, null when the token alone does not determine it. */
function literalOf(token: string): string | null {
  if (token.startsWith('\\Q')) return token.slice(2).replace(/\\E$/, '')
  if (/^\\[^A-Za-z0-9]$/.test(token)) return token.slice(1)
  if (token.startsWith('\\')) return SIMPLE_ESCAPE.test(token) ? '' : null
  return token.length > 1 || /^[.^$*+?|()[]$/.test(token) ? '' : token
}
