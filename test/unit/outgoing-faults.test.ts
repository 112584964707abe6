import { expect, test } from 'vitest'
import { answerFault } from '#server/network/outgoing.ts'

test('the error of an answer is its status with the first line of what it says', () => {
  expect(answerFault({ status: 204, text: 'fine' })).toBeNull()
  expect(answerFault({ status: 503, text: '' })).toBe('answered 503')
  expect(answerFault({ status: 400, text: '\nno such channel\r\nask again' })).toBe(
    'answered 400: no such channel',
  )
})

test('terminal control sequences are left out of the error of an answer', () => {
  const text = '\u001b]0;owned\u0007\u001b[2Jgone\u009b31m \u0000wrong\tkey'
  expect(answerFault({ status: 401, text })).toBe('answered 401: ]0;owned [2Jgone 31m  wrong key')
})
