import { expect, test } from 'vitest'
import { didYouMean, looksSecret, nearestTo } from '../../../cli/suggest.ts'

test.each([
  ['follwo', 'follow'],
  ['folow', 'follow'],
  ['followw', 'follow'],
  ['flo', null],
  ['we', 'web'],
  ['wbe', 'web'],
  ['conquer', null],
])('nearest to %s is %s', (word, nearest) => {
  expect(nearestTo(word, ['follow', 'lines', 'web'])).toBe(nearest)
})

test('a sentence names the nearest word, or is empty', () => {
  expect(didYouMean('folow', ['follow'], '--')).toBe('. Did you mean --follow?')
  expect(didYouMean('conquer', ['follow'], '--')).toBe('')
})

test.each([
  [`dpl_${'0'.repeat(40)}`, true],
  ['ghp_0123456789abcdefghij0123456789abcdef', true],
  ['0123456789abcdef0123456789abcdef01234567', true],
  ['a-service-with-quite-a-long-name-of-its-own', false],
  ['srv-0123456789abcdef0123', false],
])('%s may be a secret: %s', (word, isSecret) => {
  expect(looksSecret(word)).toBe(isSecret)
})
