import { linesOf } from './text.ts'

/**
 * Removes line comments (`//`) and block comments, as JavaScript, Gradle, sbt and JSON with comments have them: an option
 * that a starter only shows in a comment is not a setting. Quoted text is kept; a quote character that opens no string, as
 * in a regular expression, ends with its line.
 */
export function withoutSlashComments(text: string): string {
  // After the last end of a block comment there is none.
  const lastEnd = text.lastIndexOf('*/')
  let kept = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"' || character === "'" || character === '`') {
      at = quoteEnd(text, at)
      continue
    }
    if (character !== '/') continue
    const end = commentEnd(text, at, lastEnd)
    if (end === null) continue
    kept += text.slice(from, at)
    from = end
    at = end - 1
  }
  return kept + text.slice(from)
}

/** Returns where the string ends that begins at `start`. */
function quoteEnd(text: string, start: number): number {
  const quote = text[start]!
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at
    else if (text[at] === '\n' && quote !== '`') return at
  }
  return text.length
}

/** Returns where the comment ends that begins at `start`, before the end of its line; null where no comment begins. */
function commentEnd(text: string, start: number, lastEnd: number): number | null {
  const next = text[start + 1]
  if (next === '/') return indexOrEnd(text, '\n', start, 0)
  return next === '*' && start + 2 <= lastEnd ? indexOrEnd(text, '*/', start + 2, 2) : null
}

/** Removes its XML comments. */
export function withoutXmlComments(text: string): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', from)) {
    kept += text.slice(from, at)
    from = indexOrEnd(text, '-->', at, 3)
  }
  return kept + text.slice(from)
}

/** Removes what follows a `#` at the beginning of a word, as in requirements files and in TOML. */
export function withoutHashComments(text: string): string {
  const lines: string[] = []
  for (const line of linesOf(text)) {
    const at = line.startsWith('#') ? 0 : line.search(/[ \t]#/)
    lines.push(at === -1 ? line : line.slice(0, at))
  }
  return lines.join('\n')
}

function indexOrEnd(text: string, word: string, from: number, length: number): number {
  const at = text.indexOf(word, from)
  return at === -1 ? text.length : at + length
}
