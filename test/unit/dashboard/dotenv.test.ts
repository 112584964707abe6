import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDotenv, looksLikeDotenv, parseDotenv } from '../../../dashboard/src/variables/dotenv.ts'

test('comments, export, quotes, escapes and values over several lines are read', () => {
  const text = [
    '# a comment',
    'PLAIN=value # and its comment',
    '  export EXPORTED = spaced out  ',
    'HASH=a#b',
    "SINGLE='literal $X \\n # kept'",
    'DOUBLE="two\\nlines \\"quoted\\" \\\\"',
    'KEY="-----BEGIN',
    'abc',
    '-----END"',
    'EMPTY=',
    'PLAIN=again',
  ].join('\r\n')
  expect(parseDotenv(text)).toEqual({
    variables: [
      { key: 'PLAIN', value: 'again' },
      { key: 'EXPORTED', value: 'spaced out' },
      { key: 'HASH', value: 'a#b' },
      { key: 'SINGLE', value: 'literal $X \\n # kept' },
      { key: 'DOUBLE', value: 'two\nlines "quoted" \\' },
      { key: 'KEY', value: '-----BEGIN\nabc\n-----END' },
      { key: 'EMPTY', value: '' },
    ],
    faults: [],
  })
})

test('a line that is no assignment is named, and the others are still read', () => {
  const { variables, faults } = parseDotenv('A=1\nnot a line\nB="never closed\nC=3')
  expect(variables).toEqual([
    { key: 'A', value: '1' },
    { key: 'C', value: '3' },
  ])
  expect(faults).toEqual(['Line 2 is not KEY=value.', 'Line 3 has no closing ".'])
})

test('what is written is read back unchanged', () => {
  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)
  const value = fc.oneof(fc.string(), fc.stringMatching(/^[\s'"\\#$=\r\n]{0,12}$/))
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ key, value }), { selector: (variable) => variable.key }),
      (variables) => {
        expect(parseDotenv(formatDotenv(variables))).toEqual({ variables, faults: [] })
      },
    ),
  )
})

test('a pasted name is not taken for a file', () => {
  expect(looksLikeDotenv('DATABASE_URL')).toBe(false)
  expect(looksLikeDotenv('A=1')).toBe(true)
})

test('a long text is read at once, also while one of its quotes is still open', () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `KEY_${at}=${'v'.repeat(100)}`)
  const { variables, faults } = parseDotenv(['FIRST="open', ...lines].join('\n'))
  expect(faults).toEqual(['Line 1 has no closing ".'])
  expect(variables).toHaveLength(20_000)
})

test('of a text that is no .env file a few lines are told, and how many more there are', () => {
  const { faults } = parseDotenv('not an assignment\n'.repeat(1_000))
  expect(faults).toHaveLength(6)
  expect(faults.at(-1)).toBe('995 more lines could not be read.')
})
