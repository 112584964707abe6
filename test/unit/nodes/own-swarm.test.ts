import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SwarmNode } from '#daemon/engine/index.ts'
import type { SwarmInfo } from '#daemon/engine/swarm-info.ts'
import { isFormerMember } from '#daemon/nodes/former-member.ts'
import { ownNode, OwnSwarm } from '#daemon/nodes/own-swarm.ts'
import { useDatabase } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { setManagers } from '#server/nodes/managers.ts'
import { assertRemovable } from '#server/nodes/operations.ts'
import { getNode, updateNode } from '#server/nodes/store.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'

const NONE: SwarmInfo = {
  ...{ state: 'inactive', nodeId: null, isManager: false, swarmId: null, managers: [] },
  liveRestore: false,
}
const OURS: SwarmInfo = { ...NONE, state: 'active', nodeId: 'ours', isManager: true }

/** What the engine is in. */
let at: { info: SwarmInfo; members: string[] }
/** What the swarm lists in place of `members`, or why it does not. */
let nodes: SwarmNode[] | Error | null
let left: number
let initFault: Error | null
let close: () => Promise<void>
let swarm: OwnSwarm
beforeEach(async () => {
  ;({ close } = await openContext())
  at = { info: NONE, members: [] }
  nodes = null
  left = 0
  initFault = null
  swarm = started()
})
afterEach(() => close())

/** The swarm as a server sees it that has just been started. */
function started(): OwnSwarm {
  return new OwnSwarm({
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
      if (nodes instanceof Error) throw nodes
      if (nodes) return nodes
      return at.members.map((id) => ({ id }) as SwarmNode)
    },
  })
}

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
  expect(Array.isArray(found) ? found.map(({ id }) => id) : found).toEqual(members)
  expect(ownNode().swarm_id).toBe(members === 'expelled' ? null : 'ours')
})

test('managers of a swarm that is no longer its own can be removed as lost', async () => {
  await swarm.begin('10.0.0.1')
  for (const name of ['a', 'b'])
    addNode(name, { swarm_id: name, status: 'down', is_manager: 1, manager_state: 'reachable' })
  at = { info: NONE, members: [] }
  expect(await swarm.members()).toBe('expelled')
  for (const name of ['a', 'b']) expect(() => assertRemovable(getNode(`nod-${name}`)!, true)).not.toThrow()
})

describe('a server that was restored on another machine', () => {
  const there = (members: Partial<SwarmNode>[], info: Partial<SwarmInfo> = {}) => {
    at = { info: { ...OURS, nodeId: 'new', swarmId: 'swarm', ...info }, members: [] }
    nodes = members.map((member) => ({ state: 'ready', isManager: true, ...member }) as SwarmNode)
  }
  beforeEach(async () => {
    addNode('worker', { swarm_id: 'other' })
    await swarm.begin('10.0.0.1')
    at.info = { ...OURS, swarmId: 'swarm' }
    await swarm.members()
    swarm = started()
  })

  test('takes the place of the former one in its swarm', async () => {
    there([{ id: 'ours', state: 'down' }, { id: 'other' }, { id: 'new' }])
    expect(await swarm.members()).toHaveLength(3)
    expect(ownNode()).toMatchObject({ swarm_id: 'new' })
    expect(isFormerMember('ours')).toBe(true)
    // It had become a manager after the backup.
    expect(getNode('nod-worker')).toMatchObject({ is_manager: 1 })
  })

  test.each<[string, () => void, RegExp]>([
    [
      'the former machine is still there',
      () => there([{ id: 'ours' }, { id: 'new' }]),
      /is ready in the swarm/,
    ],
    [
      'it is on another node of its own',
      () => there([{ id: 'ours', state: 'down' }, { id: 'other' }], { nodeId: 'other' }),
      /this machine is the node worker/,
    ],
    [
      'the engine is a worker there',
      () => {
        there([], { isManager: false, swarmId: null, managers: ['other'] })
      },
      /docker node promote for it on worker/,
    ],
  ])('changes nothing while %s', async (_what, arrange, reason) => {
    arrange()
    await expect(swarm.members()).rejects.toThrow(reason)
    expect(ownNode()).toMatchObject({ swarm_id: 'ours', address: '10.0.0.1' })
    expect(isFormerMember('ours')).toBe(false)
  })

  describe('whose engine has not joined yet', () => {
    const lost = (planned: number) => {
      useDatabase().run(
        "INSERT INTO server_restore (id, status, planned, restored_at) VALUES (1, 'running', ?, 0)",
        planned,
      )
      at = { info: NONE, members: [] }
    }
    beforeEach(() => {
      addNode('second', { swarm_id: 'second', is_manager: 1, manager_state: 'reachable' })
      updateNode(ownNode().id, { manager_state: 'unreachable' })
    })

    test('waits for that as long as there are to be other managers', async () => {
      lost(0)
      await expect(swarm.members()).rejects.toThrow(/docker swarm join-token manager on second,/)
      expect(getNode('nod-second')).toMatchObject({ is_manager: 1 })
      setManagers(1, undefined)
      expect(await swarm.members()).toBe('expelled')
    })

    test('takes its place once it has', async () => {
      lost(0)
      await expect(swarm.members()).rejects.toThrow()
      there([{ id: 'ours', state: 'down' }, { id: 'second' }, { id: 'new' }])
      expect(await swarm.members()).toHaveLength(3)
      expect(ownNode()).toMatchObject({ swarm_id: 'new' })
    })

    test('is waited for only until the restore is planned', async () => {
      lost(1)
      expect(await swarm.members()).toBe('expelled')
    })
  })

  test('waits while the swarm there has no leader', async () => {
    there([], { swarmId: null })
    nodes = new AppError('runtime_error', 'no leader')
    await expect(swarm.members()).rejects.toThrow('no leader')
    expect(ownNode()).toMatchObject({ swarm_id: 'ours' })
  })
})

test('an own swarm without a leader is silent', async () => {
  await swarm.begin('10.0.0.1')
  nodes = new AppError('runtime_error', 'no leader')
  expect(await swarm.members()).toEqual({ silence: 'no leader' })
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
