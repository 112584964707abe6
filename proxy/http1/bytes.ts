/** Byte classes as tables: one load decides whether a byte is allowed at its place. */

/** tchar of RFC 9110 5.6.2. */
export const TOKEN = new Uint8Array(256)
/** The bytes of a field value: HTAB, SP, VCHAR, obs-text (RFC 9110 5.5). */
export const VALUE = new Uint8Array(256)
/** The bytes of a request target: everything visible. obs-text passes, since upstreams decide about it. */
export const TARGET = new Uint8Array(256)
/** ASCII lower case. */
export const LOWER = new Uint8Array(256)
/** Lower case, and `_` as `-`: CGI and WSGI turn both spellings into the same variable, so both name the same field. */
export const FOLDED = new Uint8Array(256)

for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  TOKEN[character.charCodeAt(0)] = 1
}
for (let code = 0; code < 256; code++) {
  VALUE[code] = code === 9 || (code >= 0x20 && code !== 0x7f) ? 1 : 0
  TARGET[code] = code > 0x20 && code !== 0x7f ? 1 : 0
  LOWER[code] = code >= 65 && code <= 90 ? code + 32 : code
  FOLDED[code] = code === 95 ? 45 : LOWER[code]!
}

export const TAB = 9
export const LF = 10
export const CR = 13
export const SPACE = 32

/** Returns the bytes of an ASCII text. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

/** Whether `input[start, end)` equals `literal` (which is folded), ignoring case and treating `_` as `-`. */
export function equalsFolded(input: Uint8Array, start: number, end: number, literal: Uint8Array): boolean {
  if (end - start !== literal.length) return false
  for (let index = 0; index < literal.length; index++) {
    if (FOLDED[input[start + index]!] !== literal[index]) return false
  }
  return true
}

/** Whether `input[start, end)` equals `literal` (which is in lower case), ignoring case. */
export function equalsIgnoringCase(
  input: Uint8Array,
  start: number,
  end: number,
  literal: Uint8Array,
): boolean {
  if (end - start !== literal.length) return false
  for (let index = 0; index < literal.length; index++) {
    if (LOWER[input[start + index]!] !== literal[index]) return false
  }
  return true
}

/**
 * Copies `bytes` into `output` at `at`; returns the index after them. For a few bytes, a loop is faster than a native call.
 */
export function put(output: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) output[at++] = bytes[index]!
  return at
}

/** Copies a latin1 text into `output` at `at`; returns the index after it. */
export function putText(output: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) output[at++] = text.charCodeAt(index)
  return at
}

/** The method that `toString('latin1')` of every Buffer ends up in. Calling it directly saves choosing it. */
interface Latin1Reader {
  latin1Slice(start: number, end: number): string
}

/** Returns the text of `input[start, end)`, one character per byte. */
export function latin1(input: Uint8Array, start: number, end: number): string {
  return (input as unknown as Latin1Reader).latin1Slice(start, end)
}
