import { expect, test } from 'vitest'
import { plainLine, plainLines } from '#server/text/plain-line.ts'

test.each([
  ['a terminal', 'a\u001b[31m\u0007b\u009b2J', 'a [31m b 2J'],
  ['ends of lines', ' a\r\nb\u2028c\u2029d\u0085e\n', 'a b c d e'],
  ['marks of direction', 'a\u200e\u200f\u061cb', 'ab'],
  ['embeddings, overrides and isolates', '\u202a\u202b\u202c\u202d\u202etxt\u2066\u2067\u2068\u2069', 'txt'],
  ['half a character', 'a\ud83d', 'a'],
])('a text from elsewhere is one line without what is for %s', (_what, text, plain) => {
  expect(plainLine(text)).toBe(plain)
})

test('letters of every script stay, and so does what joins them', () => {
  for (const text of ['שלום', 'سلام', 'می\u200cخواهم', '👩\u200d👧', 'é', '日本'])
    expect(plainLine(text)).toBe(text)
})

test('a text is cut before it is cleaned, and keeps its lines if requested', () => {
  expect(plainLine('😀😀', 3)).toBe('😀')
  expect(plainLines('a\r\n\n  b\u202ec\u0007', 100)).toBe('a\n\n  bc ')
})
