/**
 * The lines of a text, without their endings. Files of a source tree are read line by line: a regular expression that begins
 * or ends with blanks takes quadratic time on a long run of empty lines.
 */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    yield text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end)
    start = end + 1
  }
}

/** The first group of `pattern` in the first line that it matches. */
export function findInLines(text: string, pattern: RegExp): string | undefined {
  for (const line of linesOf(text)) {
    const match = pattern.exec(line)
    if (match) return match[1]
  }
  return undefined
}

/** Whether `pattern` matches any line. */
export function hasLine(text: string, pattern: RegExp): boolean {
  for (const line of linesOf(text)) if (pattern.test(line)) return true
  return false
}
