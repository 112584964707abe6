const SPACE = 32
const TAB = 9

/**
 * Returns a field's value without the white space around it (RFC 9112 5). `trim` would also remove the byte A0, a part of
 * UTF-8 letters.
 */
export function withoutWhitespace(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}
