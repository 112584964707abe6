import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AgentServices } from '#daemon/nodes/agent-service.ts'
import { Checking } from '#daemon/nodes/checking.ts'
import { Links } from '#daemon/nodes/links.ts'
import type { Engine } from '#daemon/engine/index.ts'
import { ownNodeId, updateNode } from '#server/nodes/store.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'

let close: () => Promise<void>
beforeEach(async () => {
  ;({ close } = await openContext())
  updateNode(ownNodeId(), { name: 'server', address: '10.0.0.1' })
})
afterEach(() => close())

/** Looks from an engine without containers: with no node that answers, nothing of the network is tried. */
function checking(): Checking {
  const engine = { containers: { list: async () => [] } } as unknown as Engine
  const agents = { image: async () => 'sha256:0' } as unknown as AgentServices
  return new Checking({ links: new Links(() => {}), agents, engineOf: () => engine })
}

test('a check tells nodes that do not answer as failed; a node that joins is not kept out by them', async () => {
  addNode('worker-1', { status: 'unreachable', address: '10.0.0.2' })
  addNode('worker-2', { status: 'down', address: '10.0.0.3' })
  const failed = (name: string, status: string) => ({
    ...{ what: 'all', from: 'server', to: name, ok: false },
    message: `${name} is ${status}: not tried, check again once it is ready`,
  })
  expect(await checking().check(ownNodeId())).toEqual({
    ok: false,
    checks: [failed('worker-1', 'unreachable'), failed('worker-2', 'down')],
  })
  expect(await checking().checkAnswering(ownNodeId())).toEqual({ ok: true, checks: [] })
})

test('a check without another node is refused', async () => {
  await expect(checking().check(ownNodeId())).rejects.toMatchObject({
    code: 'conflict',
    message: 'server is the only node: let another machine join first',
  })
})
