import ignore, { type Ignore } from 'ignore'

/** The package would ignore the case of letters, which git does not on most machines. */
const OPTIONS = { ignorecase: false }

/** The package keeps each answer, about 100 bytes. A new list forgets them, and shares what was compiled. */
const MAX_KEPT_ANSWERS = 256

/**
 * A list of rules in the syntax of `.gitignore` (gitignore(5)): the last that matches a path decides. A file of a folder
 * below adds its rules to those of the folders around it. A list does not change; folders without a file share theirs.
 */
export class GitRules {
  static readonly EMPTY = new GitRules([], false)

  readonly #rules: Ignore
  #kept: Ignore
  #answers = 0
  /** Whether a rule takes back what others leave out. */
  readonly hasExceptions: boolean
  readonly #isEmpty: boolean

  private constructor(rules: (Ignore | string)[], hasExceptions: boolean) {
    this.#rules = ignore(OPTIONS).add(rules)
    this.#kept = this.#rules
    this.#isEmpty = rules.length === 0
    this.hasExceptions = hasExceptions
  }

  /** With the lines of a file of `folder`, which is empty for the top folder. */
  withLines(text: Buffer, folder: string): GitRules {
    const lines = text
      .toString('latin1')
      .replace(BYTE_ORDER_MARK, '')
      .split(/\r?\n|\r$/)
      .flatMap((line) => inFolder(line, asBytes(folder)) ?? [])
    if (lines.length === 0) return this
    return new GitRules([this.#rules, ...lines], this.hasExceptions || lines.some(isException))
  }

  /** With a rule that takes a folder back; what is in it is judged again. */
  withoutFolder(folder: string): GitRules {
    return new GitRules([this.#rules, `!/${escaped(asBytes(folder))}/`], true)
  }

  /** Whether a path is left out or taken back; null when no rule matches it. The folders around it are not left out. */
  judge(path: string, isFolder: boolean): 'out' | 'in' | null {
    if (this.#isEmpty) return null
    this.#answers += 1
    if (this.#answers % MAX_KEPT_ANSWERS === 0) this.#kept = ignore(OPTIONS).add(this.#rules)
    const { ignored, unignored } = this.#kept.test(asBytes(isFolder ? `${path}/` : path))
    if (ignored) return 'out'
    return unignored ? 'in' : null
  }
}

/** In UTF-8, a character for each byte. */
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/

/** A character for each byte, since `?` and `[...]` match a byte in git. */
function asBytes(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text).toString('latin1')
}

function isException(line: string): boolean {
  return line.startsWith('!')
}

/** A line of the file of a folder as one of the top folder; null for one without a rule. */
function inFolder(line: string, folder: string): string | null {
  if (line === '' || line.startsWith('#')) return null
  if (folder === '') return line
  const mark = isException(line) ? '!' : ''
  const pattern = line.slice(mark.length)
  // Spaces at the end do not count, unless one has a backslash before it; here only a slash before them matters.
  const bare = pattern.replace(/ +$/, '')
  if (bare === '' || bare === '/') return null
  const isAnchored = bare.slice(0, -1).includes('/')
  const place = isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`
  return `${mark}/${escaped(folder)}/${place}`
}

function escaped(path: string): string {
  return path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)
}
