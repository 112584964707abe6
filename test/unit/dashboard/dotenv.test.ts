import { parse } from 'dotenv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatDotenv,
  isWritable,
  looksLikeDotenv,
  parseDotenv,
} from '../../../dashboard/src/variables/dotenv.ts'

test('comments, export, quotes, escapes and values over several lines are read', () => {
  const text = [
    '# a comment',
    'PLAIN=value # and its comment',
    '  export EXPORTED = spaced out  ',
    "SINGLE='literal $X \\n # kept'",
    'DOUBLE="two\\nlines"',
    'BACK=`it\'s "quoted"`',
    'JSON="{"type":"x"}"',
    'KEY="-----BEGIN',
    'abc',
    '-----END"',
    'EMPTY=',
    'YAML: too',
  ].join('\r\n')
  expect(parseDotenv(text)).toEqual({
    variables: [
      { key: 'PLAIN', value: 'value' },
      { key: 'EXPORTED', value: 'spaced out' },
      { key: 'SINGLE', value: 'literal $X \\n # kept' },
      { key: 'DOUBLE', value: 'two\nlines' },
      { key: 'BACK', value: 'it\'s "quoted"' },
      { key: 'JSON', value: '{"type":"x"}' },
      { key: 'KEY', value: '-----BEGIN\nabc\n-----END' },
      { key: 'EMPTY', value: '' },
      { key: 'YAML', value: 'too' },
    ],
    faults: [],
    notes: [],
  })
})

test('ambiguous values are reported', () => {
  const text = [
    'A=1',
    'HASH=a#b',
    'ESCAPED="a \\"word\\""',
    'KEY=-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADAN==',
    '-----END PRIVATE KEY-----',
    'A=2',
  ].join('\n')
  expect(parseDotenv(text)).toEqual({
    variables: [
      { key: 'A', value: '2' },
      { key: 'HASH', value: 'a' },
      { key: 'ESCAPED', value: 'a \\"word\\"' },
      { key: 'KEY', value: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN==\n-----END PRIVATE KEY-----' },
    ],
    faults: [],
    notes: [
      'Line 2: HASH ends before #, which begins a comment: quote it if it is part of the value.',
      'Line 3: ESCAPED keeps its backslashes: only \\n and \\r are read.',
      'Line 4: KEY is read up to its END line.',
      'Line 7: A is set a second time: this value is used, that of line 1 is not.',
    ],
  })
})

test('every line that is read has the value that the package dotenv gives it', () => {
  const line = fc.stringMatching(/^[A-C]=[ab '"`\\#n={}$]{0,10}$/)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      const text = lines.join('\n')
      const { variables, faults } = parseDotenv(text)
      fc.pre(faults.length === 0)
      expect(Object.fromEntries(variables.map(({ key, value }) => [key, value]))).toEqual(parse(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a line that is not an assignment is named, and the others are still read', () => {
  const { variables, faults } = parseDotenv('A=1\nnot a line\nB="never closed\nC=3')
  expect(variables).toEqual([
    { key: 'A', value: '1' },
    { key: 'C', value: '3' },
  ])
  expect(faults).toEqual(['Line 2 is not KEY=value.', 'Line 3 has no closing ".'])
})

test('what can be written is read back unchanged', () => {
  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)
  const value = fc.oneof(fc.string(), fc.stringMatching(/^[\sn'"`\\#$=\r\n]{0,12}$/))
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ key, value }), { selector: (variable) => variable.key }),
      (variables) => {
        const { variables: read, faults } = parseDotenv(formatDotenv(variables))
        expect(read).toEqual(variables.filter(isWritable))
        expect(faults).toEqual([])
      },
    ),
  )
})

test('a pasted name is not taken for a file', () => {
  expect(looksLikeDotenv('DATABASE_URL')).toBe(false)
  expect(looksLikeDotenv('A=1')).toBe(true)
})

test('a long text is read at once, even while one of its quotes is still open', () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `KEY_${at}=${'v'.repeat(100)}`)
  const { variables, faults } = parseDotenv(['FIRST="open', ...lines].join('\n'))
  expect(faults).toEqual(['Line 1 has no closing ".'])
  expect(variables).toHaveLength(20_000)
})

test('for a text that is not a .env file a few lines are reported, and how many more there are', () => {
  const { faults } = parseDotenv('not an assignment\n'.repeat(1_000))
  expect(faults).toHaveLength(6)
  expect(faults.at(-1)).toBe('995 more lines could not be read.')
})
