import { linesOf } from './text.ts'

/**
 * A text without its `//` comments and its block comments, as in JavaScript, Gradle, sbt and JSON with comments: an example
 * that a starter project has commented out is not a setting. Quoted text is kept. A quote character that opens no string,
 * such as one in a regular expression, ends with its line.
 */
export function withoutSlashComments(text: string): string {
  // No block comment begins after the last end of one.
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

/** Where the quoted text that begins at `start` ends. */
function quoteEnd(text: string, start: number): number {
  const quote = text[start]!
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at
    else if (text[at] === '\n' && quote !== '`') return at
  }
  return text.length
}

/** Where the comment that begins at `start` ends; null if there is none. The line break is kept. */
function commentEnd(text: string, start: number, lastEnd: number): number | null {
  const next = text[start + 1]
  if (next === '/') return indexOrEnd(text, '\n', start, 0)
  return next === '*' && start + 2 <= lastEnd ? indexOrEnd(text, '*/', start + 2, 2) : null
}

/** A text without its XML comments. */
export function withoutXmlComments(text: string): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', from)) {
    kept += text.slice(from, at)
    from = indexOrEnd(text, '-->', at, 3)
  }
  return kept + text.slice(from)
}

/** A text without comments that begin with `#` at the start of a word, as in requirements files and TOML. */
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
