import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEnvironment } from '#server/environments/operations.ts'
import { createEnvGroup } from '#server/env-groups/operations.ts'
import { SearchQuery } from '#server/search/schema.ts'
import { findByName } from '#server/search/store.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
let api: string

beforeAll(async () => {
  ;({ close } = await openContext())
  createEnvironment({ name: 'staging' })
  const create = (fields: object) => createService(ServiceInput.parse(fields)).id
  const env = [{ key: 'LOG_LEVEL', value: 'findme' }]
  api = create({ name: 'api', env })
  create({ name: 'api', environment: 'staging', env })
  createEnvGroup({ name: 'shared', vars: [{ key: 'LEVEL', value: 'findme' }] })
  const modes = Array.from({ length: 12 }, (_, at) => ({ key: `APP_${10 + at}_MODE`, value: '' }))
  createEnvGroup({ name: 'modes', vars: [...modes, { key: 'MODE', value: '' }] })
  for (let number = 1; number <= 12; number++) create({ name: `shop-${10 + number}` })
})
afterAll(() => close())

const found = (query: string) =>
  findByName(query).map(({ kind, name, holder, environment }) =>
    [kind, name, holder?.name, environment].filter((part) => part !== undefined && part !== null).join(' '),
  )

test('variables are found by their names, with whose they are, and never by a value', () => {
  expect(findByName('log_level production')).toEqual([
    {
      kind: 'variable',
      id: null,
      name: 'LOG_LEVEL',
      holder: { kind: 'service', id: api, name: 'api' },
      environment: 'production',
    },
  ])
  expect(found('level')).toEqual([
    'variable LEVEL shared',
    'variable LOG_LEVEL api production',
    'variable LOG_LEVEL api staging',
  ])
  expect(found('findme')).toEqual([])
})

test('every word has to be somewhere in the name and where it is, in either case', () => {
  expect(found('API Staging')).toEqual(['service api staging', 'variable LOG_LEVEL api staging'])
  expect(found('staging')).toEqual([
    'service api staging',
    'environment staging',
    'variable LOG_LEVEL api staging',
  ])
  expect(found('shared')).toEqual(['env_group shared', 'variable LEVEL shared'])
  expect(found('localhost')).toEqual(['domain localhost'])
  expect(found("'; -- % _")).toEqual([])
})

test('what is called exactly like a word comes first, so that it is always found', () => {
  expect(found('mode modes')[1]).toBe('variable MODE modes')
  expect(found('mode')).toContain('variable MODE modes')
})

test('at most ten of a kind are found, and a word with nothing in it is refused', () => {
  expect(found('shop')).toHaveLength(10)
  expect(SearchQuery.safeParse({ q: '  ' }).success).toBe(false)
  expect(SearchQuery.safeParse({ q: 'x'.repeat(201) }).success).toBe(false)
})
