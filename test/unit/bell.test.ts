import { expect, test } from 'vitest'
import { Bell } from '../../server/work/bell.ts'
import { takeTurn } from '../../server/work/turns.ts'

test('a ring wakes everybody who waits, and later waiters wait for the next', async () => {
  const bell = new Bell()
  const { signal } = new AbortController()
  let woken = 0
  const waiters = Array.from({ length: 100 }, () => bell.wait(signal).then(() => woken++))
  bell.ring()
  await Promise.all(waiters)
  expect(woken).toBe(100)
  const later = bell.wait(signal).then(() => woken++)
  await new Promise((resolve) => setImmediate(resolve))
  expect(woken).toBe(100)
  bell.ring()
  await later
})

test('the signal releases a waiter', async () => {
  const bell = new Bell()
  const gone = new AbortController()
  const waiting = bell.wait(gone.signal)
  gone.abort()
  await waiting
  await bell.wait(gone.signal)
})

test('turns are given in order, and leave the event loop time in between', async () => {
  const order: string[] = []
  const all = Array.from({ length: 100 }, async (_, index) => {
    await takeTurn()
    order.push(String(index))
  })
  setTimeout(() => order.push('between'), 0)
  await Promise.all(all)
  expect(order.filter((item) => item !== 'between')).toEqual(Array.from({ length: 100 }, (_, n) => String(n)))
  await takeTurn()
})
