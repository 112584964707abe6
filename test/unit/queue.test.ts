import { expect, test } from 'vitest'
import { BoundedQueue } from '../../server/work/queue.ts'

test('items that do not fit are counted, and clearing reaches all that were not handed over', async () => {
  const queue = new BoundedQueue<number>(4)
  for (let item = 1; item <= 6; item++) queue.push(item)
  const seen: number[] = []
  for await (const item of queue) {
    seen.push(item)
    if (item === 1) {
      expect(queue.takeDropped()).toBe(2)
      queue.push(7)
    }
    if (item === 2) {
      queue.clear()
      queue.push(8)
      queue.close()
    }
  }
  expect(seen).toEqual([1, 2, 8])
})

test('many items pass in their order, however they come', async () => {
  const queue = new BoundedQueue<number>(100)
  const seen: number[] = []
  const read = (async () => {
    for await (const item of queue) seen.push(item)
  })()
  for (let item = 0; item < 1_000; item++) {
    queue.push(item)
    if (item % 70 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await new Promise((resolve) => setImmediate(resolve))
  queue.close()
  await read
  expect(seen).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
})

test('an item that comes while the reader waits wakes it', async () => {
  const queue = new BoundedQueue<string>(10)
  const reader = queue[Symbol.asyncIterator]()
  const first = reader.next()
  queue.push('late')
  expect(await first).toEqual({ done: false, value: 'late' })
  queue.close()
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('items that were handed over take no space from new ones', async () => {
  const queue = new BoundedQueue<number>(4)
  const reader = queue[Symbol.asyncIterator]()
  for (let item = 1; item <= 4; item++) queue.push(item)
  expect([await reader.next(), await reader.next()].map(({ value }) => value as number)).toEqual([1, 2])
  for (let item = 5; item <= 7; item++) queue.push(item)
  expect(queue.takeDropped()).toBe(1)
})

test('a signal ends it after the present items, and at once if it had aborted before', async () => {
  const ending = new AbortController()
  const queue = new BoundedQueue<string>(4, ending.signal)
  queue.push('there')
  ending.abort()
  queue.push('too late')
  const seen: string[] = []
  for await (const item of queue) seen.push(item)
  expect(seen).toEqual(['there'])
  for await (const item of new BoundedQueue<string>(4, ending.signal)) seen.push(item)
  expect(seen).toEqual(['there'])
})
