import { posix } from 'node:path'
import { Glob } from '#server/text/glob.ts'
import { BuildFailure, linesOf } from '#plans/index.ts'

/** Each pattern is matched against each file. The ignore files of large repositories have a few hundred. */
const MAX_PATTERNS = 1_000
/** A longer pattern cannot match anything in a tree. */
const MAX_PATTERN_CHARACTERS = 1_000

interface Pattern {
  /** Begins with `!`: includes again what an earlier pattern left out. */
  exception: boolean
  expression: Glob
  /** The pattern's parts, which show whether it can match below a folder. */
  parts: { text: string; expression: Glob }[]
}

/** Which patterns matched a folder, by their index: a pattern that matches a folder matches everything in it. */
export type Verdict = boolean[]

/**
 * What a `.dockerignore` file leaves out of a build context, by the rules of the engine's own matcher
 * (moby/patternmatcher, and the ignore file reader of moby/patternmatcher/ignorefile): patterns are anchored at the
 * root, `**` spans folders, the last pattern that matches decides. The walk carries each folder's verdict to its children.
 */
export class IgnoreRules {
  readonly #patterns: Pattern[]
  readonly #hasExceptions: boolean

  /** Throws BuildFailure for an invalid pattern; `file` names the origin of the lines. */
  constructor(lines: string, file: string) {
    this.#patterns = readLines(lines, file).map((line) => compile(line, file))
    this.#hasExceptions = this.#patterns.some((pattern) => pattern.exception)
  }

  /** Judges a path, given the verdict of its folder (none for the root's own entries). */
  match(path: string, parent: Verdict | null): Verdict {
    return this.#patterns.map((pattern, index) => parent?.[index] || pattern.expression.test(path))
  }

  /** Whether that verdict leaves the path out. */
  isLeftOut(verdict: Verdict): boolean {
    const last = verdict.lastIndexOf(true)
    return last !== -1 && !this.#patterns[last]!.exception
  }

  /** Whether a file is left out, with the verdicts of its folders. */
  leavesOut(path: string): boolean {
    const names = path.split('/')
    const verdict = names.reduce<Verdict | null>(
      (parent, _, index) => this.match(names.slice(0, index + 1).join('/'), parent),
      null,
    )
    return verdict !== null && this.isLeftOut(verdict)
  }

  /** Whether an exception may include something below a folder that is left out. */
  mayHoldExceptions(directory: string): boolean {
    if (!this.#hasExceptions) return false
    const names = directory.split('/')
    return this.#patterns.some((pattern) => pattern.exception && reachesBelow(pattern, names))
  }
}

function reachesBelow(pattern: Pattern, names: string[]): boolean {
  for (const [index, name] of names.entries()) {
    const part = pattern.parts[index]
    if (!part) return false
    if (part.text.includes('**')) return true
    if (!part.expression.test(name)) return false
  }
  return pattern.parts.length > names.length
}

function readLines(text: string, file: string): string[] {
  const patterns: string[] = []
  for (const line of linesOf(text.replace(/^\ufeff/, ''))) {
    if (line.startsWith('#')) continue
    const pattern = line.trim()
    if (pattern === '') continue
    if (pattern.length > MAX_PATTERN_CHARACTERS) {
      throw new BuildFailure(
        `${file} has a pattern of more than ${MAX_PATTERN_CHARACTERS} characters (${pattern.slice(0, 40)}...): shorten it`,
      )
    }
    if (patterns.push(pattern) > MAX_PATTERNS)
      throw new BuildFailure(`${file} has more than ${MAX_PATTERNS} patterns: list folders instead of files`)
  }
  return patterns
}

function compile(line: string, file: string): Pattern {
  const exception = line.startsWith('!')
  const text = exception ? line.slice(1).trim() : line
  if (text === '')
    throw new BuildFailure(
      `${file} has the pattern "${line}", which has nothing after the !: remove or complete it`,
    )
  const cleaned = posix.normalize(text).replace(/(?<=.)\/$/, '')
  const pattern = cleaned.length > 1 ? cleaned.replace(/^\//, '') : cleaned
  try {
    const parts = pattern.split('/').map((part) => ({ text: part, expression: new Glob(part) }))
    return { exception, expression: new Glob(pattern), parts }
  } catch (cause) {
    throw new BuildFailure(`${file} has the pattern "${line}", which is invalid: fix it`, { cause })
  }
}
