/** Byte classes as tables: one load decides whether a byte may stand where it is found. */

/** tchar of RFC 9110 5.6.2. */
export const TOKEN = new Uint8Array(256)
/** What a field value may hold: HTAB, SP, VCHAR, obs-text (RFC 9110 5.5). */
export const VALUE = new Uint8Array(256)
/** What a request target may hold: everything visible; obs-text passes, as upstreams decide about it. */
export const TARGET = new Uint8Array(256)
/** ASCII lower case. */
export const LOWER = new Uint8Array(256)
/** Lower case, and `_` as `-`: CGI and WSGI make one variable of both spellings, so both name the same field. */
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

/** The bytes of an ASCII text. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'))
}

/** Whether `input[start, end)` is `literal` (which is folded) without regard to case and to `_` against `-`. */
export function equalsFolded(input: Uint8Array, start: number, end: number, literal: Uint8Array): boolean {
  if (end - start !== literal.length) return false
  for (let index = 0; index < literal.length; index++) {
    if (FOLDED[input[start + index]!] !== literal[index]) return false
  }
  return true
}

/** Whether `input[start, end)` is `literal` (which is lower case) without regard to case. */
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

/** Copies `bytes` into `output` at `at`; answers the index after them. For a few bytes a loop beats a call out of JS. */
export function put(output: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index++) output[at++] = bytes[index]!
  return at
}

/** Copies a latin1 text into `output` at `at`; answers the index after it. */
export function putText(output: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) output[at++] = text.charCodeAt(index)
  return at
}

/** Every Buffer's method behind `toString('latin1')`, without the work of choosing it. */
interface Latin1Reader {
  latin1Slice(start: number, end: number): string
}

/** The text of `input[start, end)`, a byte a character. */
export function latin1(input: Uint8Array, start: number, end: number): string {
  return (input as unknown as Latin1Reader).latin1Slice(start, end)
}
