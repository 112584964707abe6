import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine, SwarmNode } from '#daemon/engine/index.ts'
import { Invitations } from '#daemon/nodes/invitations.ts'
import { Watch } from '#daemon/nodes/watch.ts'
import { getNode, getNodeBySwarmId, ownNodeId, updateNode } from '#server/nodes/store.ts'
import { nextEvents } from '#server/notifications/events.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'

const MEMBER: SwarmNode = {
  ...{ id: 'swarm-worker', hostName: 'worker', address: '10.0.0.2', state: 'ready', message: '' },
  ...{ engineVersion: '28.5.1', architecture: 'amd64', cpus: 2, memoryBytes: 1024 },
  ...{ isManager: false, managerState: null },
}
const SILENT = { fault: 'no answer in time', isKnown: true, figures: null }
const ALIVE = { ...SILENT, fault: null }

let close: () => Promise<void>
let id: string
let watch: Watch
let faults: string[]
/** What was done about the agent: the image brought, the service provided. */
let cares: string[]
beforeEach(async () => {
  ;({ close } = await openContext())
  updateNode(ownNodeId(), { swarm_id: 'swarm-own', address: '10.0.0.1' })
  id = addNode('worker', { swarm_id: MEMBER.id, address: MEMBER.address, status: 'joining', joined_at: null })
  faults = []
  cares = []
  watch = new Watch({
    agents: {
      bring: async () => void cares.push('bring'),
      provide: async (_node, _server, isReached) =>
        void cares.push(isReached ? 'provide' : 'provide blindly'),
      fault: async () => null,
    },
    closeMetadata: async () => true,
    admit: async () => ({
      ok: faults.length === 0,
      checks: faults.map((message) => ({ what: '', from: '', to: '', ok: false, message })),
    }),
    nodesChanged: async () => {},
  })
})
afterEach(() => close())

async function look(tunnel: typeof SILENT | typeof ALIVE, member: SwarmNode | undefined = MEMBER) {
  await watch.settle(getNode(id)!, member, { tunnel, engine: {} as Engine }, new AbortController().signal)
  return getNode(id)!
}

const events = () => nextEvents(10).map(({ type, subject }) => [type, subject])

test('a node that joins, ends and comes back is told by its id', async () => {
  await look(ALIVE)
  await expect.poll(async () => (await look(ALIVE)).status).toBe('ready')
  expect((await look(SILENT, { ...MEMBER, state: 'down' })).status).toBe('down')
  expect((await look(ALIVE)).status).toBe('ready')
  expect(events()).toEqual([
    ['node.joined', id],
    ['node.down', id],
    ['node.up', id],
  ])
})

test('a node that goes down while it joins is looked at before it is ready', async () => {
  faults = ['open UDP 4789']
  expect((await look(ALIVE, { ...MEMBER, state: 'down' })).status).toBe('down')
  await look(ALIVE)
  await expect.poll(async () => (await look(ALIVE)).status).toBe('joining')
  expect(getNode(id)!.joined_at).toBeNull()
})

test('the agent of a node that does not answer is provided without a way to it', async () => {
  updateNode(id, { status: 'ready', joined_at: 1 })
  await look(SILENT)
  expect(cares).toEqual(['provide blindly'])
})

test('a reason that differs each time is not recorded each time', async () => {
  updateNode(id, { status: 'ready', joined_at: 1 })
  const first = await look({ ...SILENT, fault: 'first' })
  expect(first.reason).toMatch(/first/)
  expect((await look({ ...SILENT, fault: 'second' })).reason).toBe(first.reason)
  expect((await look(ALIVE)).status).toBe('ready')
})

test('a new address of a node is recorded', () => {
  expect(watch.adopt([{ ...MEMBER, address: '10.0.0.9' }], getNode(ownNodeId())!)).toBe(false)
  expect(getNode(id)!.address).toBe('10.0.0.9')
})

test('a machine becomes an entry by its own invitation alone', () => {
  const invitations = new Invitations()
  const adopt = (...ids: string[]) => {
    const members = ids.map((member) => ({ ...MEMBER, id: member, state: 'ready' as const }))
    watch.adopt(members, getNode(ownNodeId())!, (member) => invitations.isForEntry(member))
    return ids.map((member) => getNodeBySwarmId(member)?.is_entry)
  }
  invitations.make()
  expect(adopt('swarm-1')).toEqual([0])
  // One that joined by the first token is ready only after the second was made.
  invitations.make(Date.now(), true, ['swarm-1', 'swarm-2'])
  expect(adopt('swarm-2', 'swarm-3')).toEqual([0, 1])
  invitations.make(Date.now(), false, ['swarm-1', 'swarm-2', 'swarm-3'])
  expect(adopt('swarm-3', 'swarm-4')).toEqual([1, 0])
})
