import { expect, test } from 'vitest'
import { matching } from '../../../dashboard/src/shell/matching.ts'

const entry = (label: string, detail = 'Service') => ({ label, detail })
const NAMES = ['Deploy web', 'admin-web', 'web-2', 'web', 'web.staging', 'api']
const ENTRIES = NAMES.map((name) => entry(name))

const found = (query: string, entries = ENTRIES) => matching(entries, query).map(({ label }) => label)

test('what is called like the query comes first, then what begins with it, otherwise the order stays', () => {
  expect(found('web')).toEqual(['web', 'web-2', 'web.staging', 'Deploy web', 'admin-web'])
  expect(found(' DEPLOY  w ')).toEqual(['Deploy web'])
  expect(found('service a')).toEqual(['admin-web', 'web.staging', 'api'])
  expect(found('')).toEqual(NAMES)
})

test('what is found later moves nothing that was there before', () => {
  const late = { ...entry('web', 'Variable of api'), isLate: true }
  expect(matching([...ENTRIES, late], 'web').at(-1)).toBe(late)
})
