import { expect, test } from 'vitest'
import { z } from 'zod'
import { FULL, includes, isUnlimited } from '../../server/access/access.ts'
import { Reach } from '../../server/access/reach.ts'
import { reachable, secret, showing } from '../../server/access/shown.ts'

const Animal = reachable(
  z.object({ name: z.string(), key: secret(z.string()).meta({ description: 'a key' }) }),
  (animal) => (animal.name === 'goat' ? animal : undefined),
)
const goat = { name: 'goat', key: 'g' }
const lion = { name: 'lion', key: 'l' }
const reach = new Reach({ environments: [], services: null })
const EVERYTHING = { secrets: true, reach: null }

test('an answer shows everything to who may see it', () => {
  const show = showing(z.array(Animal))
  expect(show([goat, lion], EVERYTHING)).toEqual([goat, lion])
})

test('marks count wherever they are: in lists, in objects, behind null, in fields that may be absent', () => {
  const Zoo = z.object({
    first: Animal.nullable(),
    others: z.array(z.object({ animal: Animal })),
    keys: z.array(secret(z.string())).optional(),
  })
  const zoo = { first: goat, others: [{ animal: goat }], keys: ['k'] }
  const masked = { name: 'goat', key: null }
  expect(showing(Zoo)(zoo, { secrets: false, reach: null })).toEqual({
    ...{ first: masked, others: [{ animal: masked }], keys: [null] },
  })
  expect(showing(Zoo)({ first: null, others: [] }, { secrets: false, reach })).toEqual({
    first: null,
    others: [],
  })
  expect(zoo.first).toEqual({ name: 'goat', key: 'g' })
})

test('what is not reached is left out of a list, and is a fault anywhere else', () => {
  expect(showing(z.array(Animal))([lion, goat], { secrets: true, reach })).toEqual([goat])
  expect(() => showing(Animal)(lion, { secrets: true, reach })).toThrow(TypeError)
  expect(() => showing(z.object({ a: Animal }))({ a: lion }, { secrets: true, reach })).toThrow(TypeError)
})

test('of several forms, what is a secret in any that an answer has is one', () => {
  const sight = { secrets: false, reach: null }
  const show = showing(z.union([z.looseObject({ name: z.string() }), Animal, z.array(z.string())]))
  expect(show(goat, sight)).toEqual({ name: 'goat', key: null })
  expect(show(goat, EVERYTHING)).toEqual(goat)
  expect(show(['k'], sight)).toEqual(['k'])
  expect(() => show(1, sight)).toThrow(TypeError)
})

test.each([
  z.record(z.string(), Animal),
  z.object({ any: z.tuple([secret(z.string())]) }),
  z.object({}).catchall(Animal),
  z.preprocess((given) => given, secret(z.string())),
])('a mark where nobody would look for it is refused', (schema) => {
  expect(() => showing(schema)).toThrow(TypeError)
})

test('each mode includes the ones before it, and only everything is unlimited', () => {
  expect(includes('deploy', 'read')).toBe(true)
  expect(includes('deploy', 'full')).toBe(false)
  expect(isUnlimited(FULL)).toBe(true)
  for (const less of [
    { mode: 'deploy' as const },
    { secrets: false },
    { environments: [] },
    { services: [] },
  ])
    expect(isUnlimited({ ...FULL, ...less })).toBe(false)
})
