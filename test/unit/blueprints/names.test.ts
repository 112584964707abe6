import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BlueprintName } from '#server/blueprints/synced-schema.ts'

const addresses = readdirSync(new URL('../../../routes/api/v1/blueprints', import.meta.url))
  .map((file) => file.split('.')[0]!)
  .filter((name) => !name.startsWith('[') && name !== 'index')

test('a blueprint cannot have the name of a neighbouring address, by which it could not be reached', () => {
  expect(addresses).toContain('file')
  expect(addresses.filter((name) => BlueprintName.safeParse(name).success)).toEqual([])
})
