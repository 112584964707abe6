import { afterEach, beforeEach, expect, test } from 'vitest'
import { whileSeveral } from '#daemon/nodes/while-several.ts'
import { announceNode, announceService } from '#server/changes.ts'
import { deleteNode } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

const PERIOD_MS = 3_000

let close: () => Promise<void>
beforeEach(async () => {
  ;({ close } = await openContext())
})
afterEach(() => close())

test('a task for several nodes rests on a server of one once it has succeeded, and looks often while there are others', async () => {
  let fault: Error | null = new Error('the engine does not answer')
  const run = async () => {
    if (fault) throw fault
  }
  const task = whileSeveral({ name: 'some', everyMs: PERIOD_MS, run }, () => {})
  const { signal } = new AbortController()
  await expect(task.run(signal)).rejects.toThrow(fault)
  expect(task.everyMs).toBe(PERIOD_MS)
  fault = null
  await task.run(signal)
  expect(task.everyMs).toBeGreaterThan(100 * PERIOD_MS)
  const other = addNode('worker-1')
  expect(task.everyMs).toBe(PERIOD_MS)
  deleteNode(other)
  expect(task.everyMs).toBeGreaterThan(PERIOD_MS)
})

test('a change of a node wakes it, until it is stopped', async () => {
  let wakes = 0
  const task = whileSeveral({ name: 'some', everyMs: PERIOD_MS, run: async () => {} }, () => wakes++)
  const stop = new AbortController()
  await task.run(stop.signal)
  announceService('srv-1')
  expect(wakes).toBe(0)
  announceNode('nod-1')
  expect(wakes).toBe(1)
  stop.abort()
  announceNode('nod-1')
  expect(wakes).toBe(1)
})
