import { assert, constantFrom, array, oneof, property, string, nat } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LogFrames } from '../../daemon/engine/log-frames.ts'
import { cleanLine } from '../../server/text/clean-line.ts'

/** No control character is left except TAB and those of complete colour sequences. */
const CLEAN = /^(?:[^\p{Cc}]|\t|\u001b\[[\d;:]*m)*$/u

const anyLine = array(
  oneof(
    constantFrom(
      '\u001b',
      '[',
      ']',
      'P',
      'X',
      '^',
      '_',
      'c',
      '\\',
      'm',
      '31',
      ';',
      ':',
      '?',
      '>',
      ' ',
      '!',
      '(',
      '#',
      '\u0007',
      '\u0008',
      '\r',
      '\t',
      '\u007f',
      '\u0080',
      '\u0085',
      '\u0090',
      '\u0098',
      '\u009b',
      '\u009c',
      '\u009d',
      '\u009e',
      '\u009f',
      '\u001b[1;31m',
      '\u001b]0;title\u0007',
      '\u001b[2J',
      'text',
    ),
    string({ maxLength: 3 }),
  ),
  { maxLength: 30 },
).map((pieces) => pieces.join(''))

describe('a line of a log', () => {
  test.each([
    ['plain text', 'a\tb \u00e4\u{1f600}', 'a\tb \u00e4\u{1f600}'],
    [
      'colours',
      '\u001b[1;31mred\u001b[0m \u001b[38:2::1:2:3mrgb\u001b[m',
      '\u001b[1;31mred\u001b[0m \u001b[38:2::1:2:3mrgb\u001b[m',
    ],
    ['a drawing over another', '10 %\r50 %\r100 %\r', '100 %'],
    ['a reset of the terminal', 'a\u001bcb', 'ab'],
    ['moves and erasures', 'a\u001b[2J\u001b[1;1H\u001b[Kb', 'ab'],
    ['modes', 'a\u001b[?1049h\u001b[>4;2m\u001b[?4mb', 'ab'],
    ['a sequence with an intermediate', 'a\u001b[1 q\u001b[31 mb', 'ab'],
    ['a title', 'a\u001b]0;title\u0007b\u001b]2;title\u001b\\c', 'abc'],
    ['a link', '\u001b]8;;https://example.com\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['the clipboard', 'a\u001b]52;c;ZXZpbA==\u0007b', 'ab'],
    [
      'a device control string',
      'a\u001bP$q"p\u001b\\b\u001bX1\u001b\\\u001b^2\u001b\\\u001b_3\u001b\\c',
      'abc',
    ],
    ['a string that nothing ends', 'a\u001b]0;title', 'a'],
    ['a string that a colour ends', 'a\u001b]0;title\u001b[31mb', 'a\u001b[31mb'],
    ['controls of one character', 'a\u009b31mb\u009d0;title\u009cc\u0090q\u009cd\u0085e', 'abcde'],
    ['character sets and keypads', 'a\u001b(Bb\u001b#8c\u001b=d\u001b7e', 'abcde'],
    ['bells, backspaces and deletes', 'a\u0007b\u0008c\u007fd\u0000e', 'abcde'],
    ['half a sequence', 'a\u001b[31', 'a'],
    ['an escape at the end', 'a\u001b', 'a'],
    ['a sequence cut off by text', 'a\u001b[31\u00e4', 'a\u00e4'],
  ])('with %s', (_what, line, clean) => {
    expect(cleanLine(line)).toBe(clean)
  })

  test('keeps nothing that a terminal would obey, whatever it was, and is not cleaned twice', () => {
    assert(
      property(anyLine, (line) => {
        const clean = cleanLine(line)
        expect(clean).toMatch(CLEAN)
        expect(cleanLine(clean)).toBe(clean)
      }),
      { numRuns: 5_000 },
    )
  })

  test('keeps nothing either if it comes in pieces', () => {
    assert(
      property(anyLine, nat(60), (line, cut) => {
        expect(cleanLine(line.slice(0, cut)) + cleanLine(line.slice(cut))).toMatch(CLEAN)
      }),
      { numRuns: 5_000 },
    )
  })

  test('of a megabyte takes no longer if it is hostile', () => {
    for (const piece of [
      '\u001b]',
      '\u001b[',
      '\u001b[;',
      '\u001b',
      '\r',
      '\u009d',
      '\u001b[1m',
      '\u001bP\u001b\\',
      '\u001b[;'.padEnd(40, ';'),
    ])
      expect(cleanLine(piece.repeat(1_000_000 / piece.length))).toMatch(/^(?:\u001b\[1m)*$/)
    expect(cleanLine(`\u001b[${';'.repeat(1_000_000)}x`)).toBe('')
  })
})

test('a control sequence that the engine sends in two frames is one', () => {
  const frames = new LogFrames(() => '2026-01-02T03:04:05.000Z')
  const frame = (text: string): Buffer => {
    const payload = Buffer.from(text)
    const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])
    header.writeUInt32BE(payload.length, 4)
    return Buffer.concat([header, payload])
  }
  const bytes = Buffer.concat([
    frame('a\u001b]0;ti'),
    frame('tle\u0007b\u001b[3'),
    frame('1mc\u009b'),
    frame('2Jd\n'),
  ])
  const lines = [...bytes].flatMap((byte) => frames.push(Buffer.from([byte])))
  expect(lines.map(({ line }) => cleanLine(line))).toEqual(['ab\u001b[31mcd'])
})
