/**
 * Finds what JSON.parse silently accepts: a key that occurs twice in one object (RFC 8259 section 4 calls the result
 * unpredictable), and `__proto__`, which no resource has and which assignments treat specially. `text` must be valid JSON.
 * Returns the fault as a message that begins with the field, or null.
 */
export function findKeyFault(text: string): string | null {
  const objects: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{') objects.push(new Set())
    else if (character === '[') objects.push(null)
    else if (character === '}' || character === ']') objects.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      const keys = objects.at(-1)
      if (keys && isKey(text, end)) {
        const key = readKey(text.slice(at, end))
        if (key === '__proto__') return '__proto__: unknown field'
        if (keys.has(key)) return `${key}: occurs twice in one object`
        keys.add(key)
      }
      at = end - 1
    }
  }
  return null
}

/** Parses a key only when it has escapes: a body may have hundreds of thousands of keys. */
function readKey(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function isKey(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++
  return text[at] === ':'
}
