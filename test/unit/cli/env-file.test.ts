import { parseEnv } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEnvFile, writeEnvFile } from '../../../cli/client/env-file.ts'
import { runs } from '../../support/runs.ts'

const KEYS = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)
/** Values of what readers of such files stumble over. */
const VALUES = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '\t', "'", '"', '`', '#', '=', '\\', '\\n', '$', '{', '\r'),
  }),
  fc.string({ unit: 'grapheme' }),
)
const VARIABLES = fc.uniqueArray(fc.record({ key: KEYS, value: VALUES }), { selector: ({ key }) => key })

function asObject(variables: readonly { key: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]))
}

describe('a written file', () => {
  test('has the same values for node and for this reader, in the same order', () => {
    fc.assert(
      fc.property(VARIABLES, (variables) => {
        const { text, leftOut } = writeEnvFile(variables)
        const kept = variables.filter(({ key }) => !leftOut.includes(key))
        expect(readEnvFile('.env', text)).toEqual({ variables: kept, warnings: [] })
        expect({ ...parseEnv(text) }).toEqual(asObject(kept))
      }),
      { numRuns: runs(3_000) },
    )
  })

  test('leaves out only what no quotes hold', () => {
    fc.assert(
      fc.property(VARIABLES, (variables) => {
        for (const key of writeEnvFile(variables).leftOut) {
          const { value } = variables.find((variable) => variable.key === key)!
          const isHeld = ["'", '`'].some((quote) => !value.includes(quote))
          expect(value.includes('\r') || (!isHeld && /"|\\n/.test(value))).toBe(true)
        }
      }),
      { numRuns: runs(1_000) },
    )
  })

  test('has quotes only where they are needed', () => {
    const values = ['a_./:@%+,-9', '', 'a b', "it's", `it's \`quoted\``, `'"\``]
    expect(writeEnvFile(values.map((value, index) => ({ key: `K${index}`, value })))).toEqual({
      text: "K0=a_./:@%+,-9\nK1=\nK2='a b'\nK3=`it's`\nK4=\"it's `quoted`\"\n",
      leftOut: ['K5'],
    })
  })
})

describe('a file of others', () => {
  test.each([
    'A=1',
    'A = 1 \nB=2',
    '# a comment\n\nexport A=1\n  B=2 # another\nC=a#b',
    'A="x\\ny"\r\nB=\'x\\ny\'\r\n',
    "A='one\ntwo' # and so on\nB=`it's`",
    "A=a'b'c\nA=2",
    'A=\nB=a=b==',
    'A=${B} $C',
  ])('is read as node reads it: %j', (text) => {
    expect(asObject(readEnvFile('.env', text).variables)).toEqual({ ...parseEnv(text) })
  })

  test.each([
    ['A=1\nnonsense', 2],
    ['A', 1],
    ['=1', 1],
    ['1A=1', 1],
    ['A-B=1', 1],
    ["\n\nA='one\ntwo", 3],
    ["A='it'\"'\"'s'", 1],
    ['A="x\ny" z', 2],
    ['export A', 1],
  ])('with a wrong line is refused with its place: %j', (text, line) => {
    expect(() => readEnvFile('a.env', text)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(new RegExp(`^a\\.env:${line}: `)),
      }),
    )
  })

  test('that sets keys twice has their last values, and warns of each with all of its lines', () => {
    const text = "# first\nA=1\nB='x\ny'\n\n  export A=2\r\nC=1\nB=\nD=A=1\nA=3 # A=4"
    expect(readEnvFile('a.env', text)).toEqual({
      variables: [
        { key: 'A', value: '3' },
        { key: 'B', value: '' },
        { key: 'C', value: '1' },
        { key: 'D', value: 'A=1' },
      ],
      warnings: [
        'a.env:10: A is also set in lines 2, 6: the last one counts',
        'a.env:8: B is also set in line 3: the last one counts',
      ],
    })
  })
})
