import { describe, expect, it } from 'vitest'
import { Faults } from '#server/blueprints/faults.ts'
import { plain, type Node } from '#server/blueprints/nodes.ts'
import { readYaml } from '#server/blueprints/yaml.ts'
import { AppError } from '#server/errors.ts'

function read(text: string): Node {
  const faults = new Faults()
  const root = readYaml(text, faults)
  faults.refuse()
  return root
}

function faultsOf(text: string): string[] {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.message.split('\n')
  }
  return []
}

describe('YAML', () => {
  it("is read with anchors and merge keys, where a mapping's own keys win", () => {
    const text = 'x: &x {a: 1, b: 2}\ny: &y {a: 3, c: 4}\nz: {<<: [*x, *y], b: 5}\nw: [*x]\n'
    expect(plain(read(text))).toMatchObject({ z: { a: 1, b: 5, c: 4 }, w: [{ a: 1, b: 2 }] })
  })

  it('is of version 1.2: yes and 010 are what they say', () => {
    expect(plain(read('a: yes\nb: 010\nc: 0o10\nd: ~\ne: "1"'))).toEqual({
      a: 'yes',
      b: 10,
      c: 8,
      d: null,
      e: '1',
    })
  })

  it.each([
    [
      'a repeated key',
      'a: 1\nb: {c: 1, c: 2}\na: 2\n',
      [
        'line 2, column 11: b.c: is given twice in one mapping',
        'line 3, column 1: a: is given twice in one mapping',
      ],
    ],
    ['tabs', 'a:\n\tb: 1\n', ['line 2, column 1: Tabs are not allowed as indentation']],
    [
      'tags that run code',
      'a: !!js/function x\nb: !ruby/object y\n',
      [
        'line 1, column 1: a: has the tag tag:yaml.org,2002:js/function: only plain values are allowed',
        'line 2, column 1: b: has the tag !ruby/object: only plain values are allowed',
      ],
    ],
    ['an empty file', '# nothing\n', ['line 1, column 1: the file is empty']],
    ['a circle', 'a: &a {b: *a}\n', ['line 1, column 8: a.b.b: *a is circular']],
    ['an alias of nothing', 'a: *b\n', ['line 1, column 1: a: there is no anchor &b before *b']],
    [
      'two documents',
      'a: 1\n---\nb: 2\n',
      ['line 2, column 1: the file contains several documents, but a blueprint is only one'],
    ],
    ['what does not end', 'a: "x\n', ['line 2, column 1: Missing closing "quote']],
  ])('is refused with %s', (_what, text, faults) => {
    expect(faultsOf(text)).toEqual(faults)
  })

  it.each([
    [
      'a billion laughs',
      [
        'a: &a [x, x]',
        ...Array.from(
          { length: 40 },
          (_, at) => `k${at}: &k${at} [*${at === 0 ? 'a' : `k${at - 1}`}, *${at === 0 ? 'a' : `k${at - 1}`}]`,
        ),
      ].join('\n'),
    ],
    [
      'laughs by merge keys',
      [
        'a: &a {x: 1}',
        ...Array.from(
          { length: 40 },
          (_, at) =>
            `k${at}: &k${at} {<<: [*${at === 0 ? 'a' : `k${at - 1}`}, *${at === 0 ? 'a' : `k${at - 1}`}]}`,
        ),
      ].join('\n'),
    ],
    [
      'a long text many times',
      `a: &a ${'x'.repeat(60_000)}\nb: [${Array.from({ length: 30_000 }, () => '*a').join(', ')}]`,
    ],
    ['lists in lists', '['.repeat(50_000)],
    ['lists in lists in block style', '- '.repeat(50_000)],
    ['keys of keys', '? '.repeat(50_000)],
    ['mappings in mappings', Array.from({ length: 1_500 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
    ['a hundred thousand keys', Array.from({ length: 150_000 }, (_, at) => `k${at}: 1`).join('\n')],
    [
      'many anchors with the same name',
      Array.from({ length: 30_000 }, () => '- &a x').join('\n') + '\n- *a'.repeat(80_000),
    ],
  ])('with %s is refused without being followed', (_what, text) => {
    const began = performance.now()
    expect(faultsOf(text).length).toBeGreaterThan(0)
    // A second would already be far too long for a server that answers others meanwhile; a hang is longer.
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  it('over 2 MiB is too large', () => {
    expect(() => read(`a: ${'x'.repeat(5 * 1024 * 1024)}`)).toThrow('larger than the 2 MiB')
  })
})
