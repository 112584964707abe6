import { posix } from 'node:path'
import { EXIT } from '../../fault.ts'
import { packingFault } from './faults.ts'

interface Pattern {
  /** Begins with `!`: brings back what an earlier pattern leaves out. */
  isException: boolean
  expression: RegExp
  /** The names it consists of, each with its own expression; `**` is in one of its own. */
  names: { text: string; expression: RegExp }[]
}

/** What the patterns say of a path. */
export interface DockerVerdict {
  /** The index of the last pattern that matches the path or a folder around it, which decides; -1 for none. */
  last: number
  isOut: boolean
  /** Whether an exception that decides matches the path itself, not only a folder around it. */
  isNamed: boolean
}

/**
 * What a `.dockerignore` leaves out, by Docker's rules (Dockerfile reference, ".dockerignore file"; moby/patternmatcher):
 * patterns are anchored at the top folder, `**` spans folders, and one that matches a folder matches everything in it.
 */
export class DockerRules {
  readonly #patterns: Pattern[]

  /** Throws a Fault for a pattern that cannot be read. `kept` are paths that no pattern leaves out; `file` is the text's. */
  constructor(text: string, kept: readonly string[], file: string) {
    const lines = text
      .replace(/^\ufeff/, '')
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => line.trim())
      .filter((line) => line !== '')
    const exceptions = kept.map((path) => `!${path.replaceAll(/[\\*?[]/g, String.raw`\$&`)}`)
    this.#patterns = [...lines, ...exceptions].map((line) => compile(line, file))
  }

  /** Judges a path, given the last pattern that matches the folder around it (-1 for none). */
  judge(path: string, parent: number): DockerVerdict {
    const own = this.#patterns.findLastIndex(({ expression }) => expression.test(path))
    const last = Math.max(own, parent)
    const pattern = this.#patterns[last]
    return {
      last,
      isOut: pattern !== undefined && !pattern.isException,
      isNamed: pattern !== undefined && pattern.isException && own === last,
    }
  }

  /** Whether an exception may match something below a folder. With `isNamed`, only one that names the way there counts. */
  mayHoldExceptions(folder: string, isNamed: boolean): boolean {
    const names = folder.split('/')
    return this.#patterns.some((pattern) => pattern.isException && leadsBelow(pattern, names, isNamed))
  }
}

function leadsBelow(pattern: Pattern, folder: string[], isNamed: boolean): boolean {
  for (const [index, name] of folder.entries()) {
    const part = pattern.names[index]
    if (part === undefined) return false
    if (part.text.includes('**')) return !isNamed
    if (!part.expression.test(name)) return false
  }
  return pattern.names.length > folder.length
}

function compile(line: string, file: string): Pattern {
  const isException = line.startsWith('!')
  const text = isException ? line.slice(1).trim() : line
  const clean = posix.normalize(text).replace(/(?<=.)\/$/, '')
  const pattern = clean.length > 1 ? clean.replace(/^\//, '') : clean
  try {
    if (text === '') throw new SyntaxError('nothing after the !')
    const names = pattern.split('/').map((name) => ({ text: name, expression: expressionOf(name) }))
    return { isException, expression: expressionOf(pattern), names }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw packingFault(EXIT.wrongWords, `${file} has the pattern "${line}", which is invalid; correct it`)
  }
}

/** Two stars with the slash after them, a class, an escape, or any other character. */
const TOKEN = /\*\*\/?|\[(?:\\[^]|[^\\\]])*\]|\\[^]|[^]/gu

/** The expression for a pattern. Throws SyntaxError for an invalid one. */
function expressionOf(pattern: string): RegExp {
  const source = pattern.replaceAll(TOKEN, (token, at: number) => {
    if (token.startsWith('**')) {
      const isLast = at + token.length === pattern.length
      return isLast ? '.*' : '(?:.*/)?'
    }
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token.length > 1 && token.startsWith('[')) return classOf(token.slice(1, -1))
    if (token === '[' || token === '\\') throw new SyntaxError(`${token} without an end`)
    return literal(plain(token))
  })
  return new RegExp(`^${source}$`, 'su')
}

/** The members of a class, each a character, an escape or a range of them. */
const MEMBER = /(\\[^]|[^])(?:-(\\[^]|[^]))?/gu

function classOf(members: string): string {
  const isOther = members.startsWith('^')
  const ranges = members
    .slice(isOther ? 1 : 0)
    .replaceAll(MEMBER, (_, from: string, to?: string) =>
      [from, to].flatMap((end) => (end === undefined ? [] : memberOf(plain(end)))).join('-'),
    )
  if (ranges === '') throw new SyntaxError('an empty class')
  return `[${isOther ? '^' : ''}${ranges}]`
}

/** The character of an escape. */
function plain(token: string): string {
  return token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character
}

function memberOf(character: string): string {
  return character === '-' ? String.raw`\-` : literal(character)
}
