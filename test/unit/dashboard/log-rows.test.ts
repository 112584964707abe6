import { array, assert, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { firstIndex, RowHeights } from '../../../dashboard/src/logs/row-heights.ts'

const LINES = 30
const line = integer({ min: 1, max: LINES })

test('the heights before a row are the sum of those that were measured, whatever the order, after lines were dropped too', () => {
  assert(
    property(
      array(record({ number: line, extra: integer({ min: 0, max: 60 }) }), { maxLength: 60 }),
      line,
      (measured, first) => {
        const heights = new RowHeights()
        const known = new Map<number, number>()
        for (const { number, extra } of measured) {
          expect(heights.set(number, extra)).toBe(extra - (known.get(number) ?? 0))
          known.set(number, extra)
        }
        heights.forgetBefore(first)
        for (let number = first; number <= LINES; number++) {
          const before = [...known].filter(([other]) => other >= first && other < number)
          const sum = before.reduce((total, [, extra]) => total + extra, 0)
          expect(heights.extraBefore(number) - heights.extraBefore(first)).toBe(sum)
        }
      },
    ),
  )
})

test('what was measured is forgotten when another log is read', () => {
  const heights = new RowHeights()
  heights.set(3, 20)
  heights.clear()
  expect(heights.extraBefore(9)).toBe(0)
})

test('the first index is found among none, some and all', () => {
  expect([0, 3, 7, 9].map((from) => firstIndex(7, (index) => index >= from))).toEqual([0, 3, 7, 7])
})
