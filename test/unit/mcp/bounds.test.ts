import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bounded, cutText, MAX_ANSWER_BYTES, MAX_LINE_BYTES, tidy } from '#mcp/bounds.ts'

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe('a text', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m \u009b4mline', 'red line'],
    ['titles and links', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b', 'ab'],
    ['cursor moves and half a sequence', 'a\u001b[2Kb\u001b', 'ab'],
    ['control characters, but no tab and no line end', 'a\u0000\r\u0007\u007f\u0085\tb\nc', 'a\tb\nc'],
    ['marks of direction', 'a\u202eb\u2066c\u200f', 'abc'],
    ['tags, which only models read', 'ok\u{e0069}\u{e0067}\u{e006e}', 'ok'],
    ['half of a character', 'a\ud800b', 'ab'],
  ])('loses %s', (_what, given, left) => {
    expect(tidy(given)).toBe(left)
  })

  it('has lines of at most 2 KiB', () => {
    const long = 'ü'.repeat(5_000)
    const [first, second] = tidy(`${long}\nshort`).split('\n')
    expect(Buffer.byteLength(first!)).toBeLessThanOrEqual(MAX_LINE_BYTES)
    expect(first).toMatch(/^ü{1000,}…$/)
    expect(second).toBe('short')
  })

  it('is cut between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(60), (text, room) => {
        const cut = cutText(text, room + 3)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(room + 3)
        expect(cut.isWellFormed()).toBe(true)
        expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true)
      }),
    )
  })
})

describe('an answer', () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => ({ ts: `t${index}`, line: 'x'.repeat(index) }))

  it('that fits is whole, without empty fields', () => {
    expect(bounded({ value: { a: null, b: [{ c: undefined, d: 0 }], e: '' } })).toEqual({
      b: [{ d: 0 }],
      e: '',
    })
  })

  it('loses the oldest items of its list, and says where they are', () => {
    const next = (kept: readonly unknown[]) => (kept[0] as { ts: string }).ts
    const answer = bounded({ value: { lines }, cut: { list: 'lines', keep: 'last', next } })
    const kept = answer.lines as typeof lines
    expect(bytes(answer)).toBeLessThanOrEqual(MAX_ANSWER_BYTES)
    expect(kept).toEqual(lines.slice(-kept.length))
    expect(bytes(answer) + bytes(lines.at(-kept.length - 1))).toBeGreaterThan(MAX_ANSWER_BYTES - 512)
    expect(answer).toMatchObject({ truncated: true, next_cursor: kept[0]!.ts })
  })

  it('loses the last items of a list that begins with the newest', () => {
    const cut = { list: 'lines', keep: 'first' as const, next: () => 'more' }
    const answer = bounded({ value: { lines: lines.toReversed() }, cut })
    expect((answer.lines as typeof lines)[0]).toEqual(lines.at(-1))
    expect(answer).toMatchObject({ truncated: true, next_cursor: 'more' })
  })

  it('never has more than 32 KiB, whatever it is made of', () => {
    const part = fc.oneof(
      fc.string({ minLength: 0, maxLength: 20_000, unit: 'grapheme' }),
      fc.array(fc.string({ maxLength: 500 }), { maxLength: 200 }),
      fc.array(fc.record({ name: fc.string(), hosts: fc.array(fc.string({ maxLength: 300 })) })),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string(), part, { minKeys: 1, maxKeys: 20 }), (value) => {
        const answer = bounded({ value })
        expect(bytes(answer)).toBeLessThanOrEqual(MAX_ANSWER_BYTES)
      }),
      { numRuns: 30 },
    )
    const nested = bounded({ value: { services: [{ hosts: Array(5_000).fill('a.example.com') }] } })
    expect(bytes(nested)).toBeLessThanOrEqual(MAX_ANSWER_BYTES)
    expect((nested.services as { hosts: string[] }[])[0]!.hosts.length).toBeGreaterThan(500)
    expect(nested.truncated).toBe(true)
  })
})
