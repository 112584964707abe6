const SPACE = 32
const TAB = 9

/** A field's value without the white space around it (RFC 9112 5): not `trim`, which takes the byte A0 too, a part of letters in UTF-8. */
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
