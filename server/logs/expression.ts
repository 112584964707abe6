import { RE2JS } from 're2js'
import { messageOf } from '../errors.ts'

/** An expression in RE2's syntax. */
export interface Expression {
  expression: string
  ignoreCase: boolean
}

/** Time grows with the length of a line times this, at most: RE2's program of an expression, in instructions. */
const MAX_PROGRAM = 2_500
/** Characters with what is repeated written out: more cannot become so small a program, and compiling takes as long. */
const MAX_WRITTEN_OUT = 4 * MAX_PROGRAM
/** A literal run, an escape, a class, a repetition, or one character of an expression (RE2's syntax). */
const TOKENS =
  /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]?|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu
/** Escapes of a class, of a place or of a control character, which end with their letter. */
const SIMPLE_ESCAPE = /^\\[dDsSwWbBAztnrfvaC]$/
const REPETITION = /^(?:[*?]|\{\d+(?:,\d*)?\})$/
/** What is looked for: the cases of other characters are no matter of one to one. */
const PLAIN = /^[ -~]$/
/** Where the case does not count, without s: ſ stands for it too, and is not it in lower case. */
const PLAIN_IN_ANY_CASE = /^[ -RT-rt-~]$/

/** What finds an expression in a text. Throws an error that says why it cannot be used. */
export function compileExpression({ expression, ignoreCase }: Expression): (text: string) => boolean {
  try {
    if (writtenOut(expression) > MAX_WRITTEN_OUT) throw new Error('it is too large: repeat less in it')
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

/** How long an expression is with what it repeats written out. */
function writtenOut(expression: string): number {
  const outer: number[] = []
  let length = 0
  let last = 0
  for (const { 0: token, groups } of expression.matchAll(TOKENS)) {
    const times =
      groups?.least === undefined ? null : Math.max(Number(groups.least), Number(groups.most ?? 0))
    if (token === '(') {
      outer.push(length)
      length = last = 0
    } else if (token === ')' && outer.length > 0) {
      last = length + 1
      length = outer.pop()! + last
    } else {
      // What is repeated was counted once already.
      const added = times === null ? (token.startsWith('\\Q') ? token.length : 1) : last * times - last
      length += Math.max(0, added)
      last = times === null ? added : last * times
    }
  }
  return outer.reduce((sum, each) => sum + each, length)
}

/**
 * A text that every line has in it that the expression is found in, in one case or another; empty for none. The longest
 * that stands outside of all groups is taken: it is to be rare, not to be all.
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
    // What follows such an escape may belong to it: \pL, \x41.
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

/** What a token stands for; empty when it is no literal, null when that cannot be said of it alone. */
function literalOf(token: string): string | null {
  if (token.startsWith('\\Q')) return token.slice(2).replace(/\\E$/, '')
  if (/^\\[^A-Za-z0-9]$/.test(token)) return token.slice(1)
  if (token.startsWith('\\')) return SIMPLE_ESCAPE.test(token) ? '' : null
  return token.length > 1 || /^[.^$*+?|()[]$/.test(token) ? '' : token
}
