import { expect, test } from 'vitest'
import { plainText } from '../../../dashboard/src/api/plain-text.ts'
import { conflictsOf, rebase, touchedOf } from '../../../dashboard/src/form/merge.ts'
import { faultsOf } from '../../../dashboard/src/form/faults.ts'
import { qualifiedName, serviceRef } from '../../../dashboard/src/service/address.ts'
import { linkedGroups } from '../../../dashboard/src/variables/effective.ts'
import { envPatch, rowFaults, rowOf, rowsOf } from '../../../dashboard/src/variables/rows.ts'

test('untouched fields follow a change from elsewhere, and touched ones stay', () => {
  const base = { port: '80', image: 'a' }
  const merge = rebase({ base, mine: { port: '81', image: 'a' } }, { port: '80', image: 'b' })
  expect(merge).toEqual({ base: { port: '80', image: 'b' }, mine: { port: '81', image: 'b' } })
  expect(touchedOf(merge)).toEqual(['port'])
})

test('fields that both changed differently are a conflict, equal changes are not', () => {
  const base = { port: '80', image: 'a', path: '/' }
  const now = { port: '82', image: 'b', path: '/' }
  const merge = rebase({ base, mine: { port: '81', image: 'b', path: '/' } }, now)
  expect(merge.mine).toEqual({ port: '81', image: 'b', path: '/' })
  expect(conflictsOf(merge.base, now)).toEqual(['port'])
  expect(touchedOf(merge)).toEqual(['port'])
})

test.for([
  ['added elsewhere', { A: '1' }, { A: '1' }, { A: '1', B: '2' }, { A: '1', B: '2' }, []],
  ['removed elsewhere', { A: '1', B: '2' }, { A: '3', B: '2' }, { A: '1' }, { A: '3' }, []],
  ['removed here, changed elsewhere', { A: '1' }, {}, { A: '2' }, {}, ['A']],
  ['changed here, removed elsewhere', { A: '1' }, { A: '2' }, {}, { A: '2' }, ['A']],
  ['removed on both sides', { A: '1' }, {}, {}, {}, []],
] as const)('a variable %s', ([, base, mine, now, merged, conflicts]) => {
  const result = rebase<Record<string, string>>({ base, mine }, now)
  expect(result.mine).toEqual(merged)
  expect(conflictsOf<Record<string, string>>(result.base, now)).toEqual(conflicts)
})

test('saving variables names those that were touched and no others', () => {
  expect(envPatch({ KEPT: '1', OLD: '2', GONE: '3' }, { KEPT: '1', OLD: 'new', FRESH: '4' })).toEqual({
    set: [
      { key: 'OLD', value: 'new' },
      { key: 'FRESH', value: '4' },
    ],
    unset: ['GONE'],
  })
})

test('rows keep their place and identity when values follow, and a row that is still empty stays', () => {
  const rows = [rowOf({ key: 'A', value: '1' }), rowOf(), rowOf({ key: 'B', value: '2' })]
  const [a, empty, b] = rows
  expect(rowsOf({ B: '3', A: '1', C: '4' }, rows)).toEqual([
    a,
    empty,
    { ...b, value: '3' },
    { id: expect.any(Number), key: 'C', value: '4' },
  ])
})

test('the later of linked groups wins, and the own variables over all', () => {
  const vars = (...keys: string[]) => keys.map((key) => ({ key, value: key }))
  const groups = [
    { id: '1', name: 'early', vars: vars('A', 'B', 'C') },
    { id: '2', name: 'late', vars: vars('B') },
    { id: '3', name: 'not-linked', vars: vars('A') },
  ]
  const found = linkedGroups(groups, ['early', 'late'], new Set(['A']))
  expect(
    found.map(({ name, variables }) => [name, variables.map(({ key, winner }) => [key, winner])]),
  ).toEqual([
    ['late', [['B', null]]],
    [
      'early',
      [
        ['A', { kind: 'own' }],
        ['B', { kind: 'group', name: 'late' }],
        ['C', null],
      ],
    ],
  ])
})

test('each error of a refusal is shown at its field, and errors without a field on the page are shown in words', () => {
  expect(faultsOf('port: must be at most 65535; start_command: must not contain NUL', ['port'])).toEqual({
    fields: { port: 'Must be at most 65535' },
    rest: 'Start command: must not contain NUL',
  })
  expect(faultsOf('env.0: key must not be empty; or so', ['env'])).toEqual({
    fields: { env: 'Key must not be empty; or so' },
    rest: null,
  })
  expect(faultsOf('the name api is in use: choose another', [])).toEqual({
    fields: {},
    rest: 'The name api is in use: choose another',
  })
})

test.for([
  ['\x1b[31mred\x1b[0m', 'red'],
  ['\x1b]0;title\x07text', 'text'],
  ['a\x1bP1$r0m\x1b\\b', 'ab'],
  ['one\r\ntwo\tthree', 'one\ntwo\tthree'],
  ['\x9b31mred\x07\x00', 'red'],
  ['\x1bcreset', 'reset'],
] as const)('a message %j reads %j', ([text, plain]) => {
  expect(plainText(text)).toBe(plain)
})

test('an address names a service by id, by name, or by name and environment', () => {
  expect(serviceRef('srv-0123456789abcdef0123')).toEqual({ id: 'srv-0123456789abcdef0123' })
  expect(serviceRef('api')).toEqual({ name: 'api', environment: 'production' })
  expect(serviceRef('api.staging')).toEqual({ name: 'api', environment: 'staging' })
  expect(qualifiedName({ name: 'api', environment: 'staging' })).toBe('api.staging')
  expect(qualifiedName({ name: 'api', environment: 'production' })).toBe('api')
})

test('errors in the names of variables are found at once, however many there are', () => {
  const rows = Array.from({ length: 50_000 }, (_, at) => rowOf({ key: `KEY_${at}`, value: '' }))
  const twice = [rowOf({ key: 'KEY_7 ', value: '' }), rowOf({ key: '', value: 'x' }), rowOf()]
  const wrong = rowFaults([...rows, ...twice])
  expect([...wrong.keys()]).toEqual([rows[7]!.id, twice[0]!.id, twice[1]!.id])
  expect(wrong.get(rows[7]!.id)).toBe('This name is used twice')
  expect(wrong.get(twice[1]!.id)).toBe('Enter a name')
})

test.for(['constructor', 'toString', '__proto__'])('a variable named %s is one like any other', (key) => {
  const has = (value: string) => Object.fromEntries([[key, value]])
  const none: Record<string, string> = {}
  expect(envPatch(has('1'), none)).toEqual({ set: [], unset: [key] })
  expect(envPatch(none, has('1'))).toEqual({ set: [{ key, value: '1' }], unset: [] })
  expect(rowsOf(none, [rowOf({ key, value: '1' })])).toEqual([])
  expect(Object.entries(rebase({ base: none, mine: none }, has('1')).mine)).toEqual([[key, '1']])
  expect(touchedOf(rebase({ base: has('1'), mine: has('1') }, none))).toEqual([])
})
