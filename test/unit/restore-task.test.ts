import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { restore } from '#daemon/restore/task.ts'
import type { World } from '#daemon/world.ts'
import type { Context } from '#server/context.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { ownNodeId, updateNode } from '#server/nodes/store.ts'
import { viewRestore } from '#server/restore/operations.ts'
import { insertRestore, moveRestore } from '#server/restore/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

let context: Context
let close: () => Promise<void>
let worker: string
beforeEach(async () => {
  ;({ context, close } = await openContext())
  worker = addNode('worker-1')
  insertRestore(context.database)
  moveRestore('fenced', 'running')
})
afterEach(async () => {
  vi.restoreAllMocks()
  await close()
})

/** Engines that run nothing; the one of the other node is away. */
function worldWithout(): World {
  const engine = {
    containers: { running: () => Promise.resolve([]) },
    volumes: { inspect: () => Promise.resolve(null) },
    answers: () => Promise.resolve(true),
  }
  const machines = {
    reconnect: () => Promise.resolve(),
    engineOf() {
      throw new Error('there is no way to it')
    },
  }
  const engines = () => [{ nodeId: ownNodeId(), engine }]
  return { engine, engines, machines, reachByAddress: true } as unknown as World
}

test('a restore that was confirmed before the engine answered goes on once the other nodes are known', async () => {
  const task = restore(worldWithout())
  await task.run(AbortSignal.abort())
  expect(viewRestore()).toMatchObject({ status: 'running', steps: [] })
  updateNode(worker, { status: 'down' })
  await task.run(AbortSignal.abort())
  expect(viewRestore()).toMatchObject({ status: 'done', steps: [] })
})

test('it says why it goes on waiting for a node on which something may run', async () => {
  createDatastore({ kind: 'relational', name: 'orders' })
  const task = restore(worldWithout())
  await task.run(AbortSignal.abort())
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
  await task.run(AbortSignal.abort())
  const waiting = expect.stringMatching(/^worker-1 does not answer.* such as orders/)
  expect(viewRestore()).toMatchObject({ status: 'running', waiting, steps: [] })
  updateNode(worker, { status: 'down' })
  await task.run(AbortSignal.abort())
  expect(viewRestore()).toMatchObject({ waiting: null, steps: [{ name: 'orders', status: 'failed' }] })
})
