import { array, assert, boolean, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { Slots } from '../../../dashboard/src/logs/slots.ts'

const view = record({
  first: integer({ min: 0, max: 60 }),
  count: integer({ max: 20, min: 0 }),
  mayPass: boolean(),
})
const keysOf = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at)

test('rows keep their slots while they are drawn, each has its own, and none is made while one is free', () => {
  assert(
    property(array(view, { maxLength: 20 }), (views) => {
      const slots = new Slots()
      let before = new Map<number, number>()
      for (const { first, count, mayPass } of views) {
        const keys = keysOf(first, count)
        const given = slots.of(keys, mayPass)
        const now = new Map(keys.map((key, at) => [key, given[at]!]))
        expect(new Set(given).size).toBe(count)
        for (const key of keys) if (before.has(key)) expect(now.get(key)).toBe(before.get(key))
        const known = new Set(before.values())
        const made = given.filter((slot) => !known.has(slot)).length
        const stay = keys.filter((key) => before.has(key)).length
        expect(made).toBe(mayPass ? Math.max(0, count - before.size) : count - stay)
        before = now
      }
    }),
  )
})

test('rows that replace all others take their slots in their order, so that no element moves', () => {
  const slots = new Slots()
  expect(slots.of(keysOf(100, 5), true)).toEqual([0, 1, 2, 3, 4])
  expect(slots.of(keysOf(900, 5), true)).toEqual([0, 1, 2, 3, 4])
  // The first three have left.
  expect(slots.of(keysOf(903, 5), true)).toEqual([3, 4, 0, 1, 2])
})
