import { expect, test } from 'vitest'
import { lonely } from '../../../dashboard/src/metrics/lines.ts'

test('a value between gaps is shown as a point, those of a line are not', () => {
  expect(lonely([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(lonely([null, 7, null])).toEqual([1])
  expect(lonely([1, 2, 3])).toEqual([])
  expect(lonely([])).toEqual([])
})
