import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SwarmNode } from '#daemon/engine/index.ts'
import type { SwarmInfo } from '#daemon/engine/swarm.ts'
import { ownNode, OwnSwarm } from '#daemon/nodes/own-swarm.ts'
import { AppError } from '#server/errors.ts'
import { updateNode } from '#server/nodes/store.ts'
import { openContext } from '../../support/context.ts'

const NONE: SwarmInfo = { state: 'inactive', nodeId: null, isManager: false, liveRestore: false }
const OURS: SwarmInfo = { ...NONE, state: 'active', nodeId: 'ours', isManager: true }

/** What the engine is in. */
let at: { info: SwarmInfo; members: string[] }
let left: number
let initFault: Error | null
let close: () => Promise<void>
let swarm: OwnSwarm
beforeEach(async () => {
  ;({ close } = await openContext())
  at = { info: NONE, members: [] }
  left = 0
  initFault = null
  swarm = new OwnSwarm({
    info: async () => at.info,
    async init() {
      at = { info: OURS, members: ['ours'] }
      if (initFault) throw initFault
      return 'ours'
    },
    async leave() {
      left++
    },
    async nodes() {
      if (!at.info.isManager) throw new AppError('runtime_error', 'this node is not a swarm manager')
      return at.members.map((id) => ({ id }) as SwarmNode)
    },
  })
})
afterEach(() => close())

test('a swarm whose id was not recorded is taken over', async () => {
  initFault = new Error('killed')
  await expect(swarm.begin('10.0.0.1')).rejects.toThrow('killed')
  expect(ownNode()).toMatchObject({ swarm_id: null, address: '10.0.0.1' })
  expect(await swarm.members()).toHaveLength(1)
  expect(ownNode()).toMatchObject({ swarm_id: 'ours', address: '10.0.0.1' })
})

test('one that was not begun leaves no address', async () => {
  updateNode(ownNode().id, { address: '10.0.0.1' })
  expect(await swarm.members()).toBeNull()
  expect(ownNode()).toMatchObject({ swarm_id: null, address: null })
})

test.each<[string, typeof at, string[] | 'expelled']>([
  ['manages it', { info: OURS, members: ['ours', 'worker'] }, ['ours', 'worker']],
  ['is in none', { info: NONE, members: [] }, 'expelled'],
  ['is a worker of another', { info: { ...OURS, nodeId: 'x', isManager: false }, members: [] }, 'expelled'],
  ['manages another', { info: { ...OURS, nodeId: 'x' }, members: ['x'] }, 'expelled'],
])('an engine that %s', async (_what, is, members) => {
  await swarm.begin('10.0.0.1')
  at = is
  const found = await swarm.members()
  expect(found === 'expelled' ? found : found?.map(({ id }) => id)).toEqual(members)
  expect(ownNode().swarm_id).toBe(members === 'expelled' ? null : 'ours')
})

test('an engine that is about to start proves nothing', async () => {
  await swarm.begin('10.0.0.1')
  at = { info: { ...NONE, state: 'pending' }, members: [] }
  await expect(swarm.members()).rejects.toThrow(/not a swarm manager/)
})

test('another swarm is not left', async () => {
  await swarm.begin('10.0.0.1')
  at.info = { ...OURS, nodeId: 'x' }
  await swarm.leave()
  expect(left).toBe(0)
  expect(ownNode()).toMatchObject({ swarm_id: null, address: null })
})

test('the own one is left', async () => {
  await swarm.begin('10.0.0.1')
  await swarm.leave()
  expect(left).toBe(1)
})
