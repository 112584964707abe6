import { afterAll, beforeAll, expect, test } from 'vitest'
import { OtherNodes } from '#daemon/metrics/other-nodes.ts'
import type { World } from '#daemon/world.ts'
import { createService } from '#server/services/operations.ts'
import { insertInstance } from '#server/instances/store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterAll(() => close())

test('a slow node holds up neither the round nor the figures of another, and comes into the next round', async () => {
  const service = createService({ name: 'api', type: 'background_worker', deploy: false })
  const answer = Promise.withResolvers<void>()
  const node = (name: string, ready: Promise<void>) => {
    const nodeId = addNode(name)
    insertInstance({
      id: name,
      service_id: service.id,
      deploy_id: 'dep-1',
      node_id: nodeId,
      address: '10.208.0.16',
    })
    const usages = {
      running: () => ready.then(() => [{ id: name, name }]),
      read: async () => ({ cpuSeconds: 1, memoryBytes: 2, cpuLimit: null, memoryLimitBytes: null }),
    }
    return { nodeId, engine: { usages } }
  }
  const engines = [{ nodeId: ownNodeId() }, node('slow', answer.promise), node('quick', Promise.resolve())]
  const others = new OtherNodes({ engines: () => engines } as unknown as World)
  const { signal } = new AbortController()
  const round = async () =>
    (await others.read(signal)).map(({ node, container }) => `${container} on ${node}`)
  expect(await round()).toEqual(['quick on nod-quick'])
  answer.resolve()
  expect(await round()).toEqual(['slow on nod-slow', 'quick on nod-quick'])
})
