import { afterAll, beforeAll, expect, test } from 'vitest'
import { strays } from '#daemon/doctor/checks/strays.ts'
import type { Facts } from '#daemon/doctor/facts.ts'
import type { Stray } from '#daemon/engine/index.ts'
import { insertNode, ownNodeId } from '#server/nodes/store.ts'
import { openContext } from '../../support/context.ts'

let close: () => Promise<void>
beforeAll(async () => {
  ;({ close } = await openContext())
  for (const name of ['worker', 'storage'])
    insertNode({
      ...{ id: name, name, is_own: 0, swarm_id: name, address: '10.0.0.2', labels: '{}', status: 'ready' },
      ...{
        reason: null,
        availability: 'active',
        drain_total: null,
        engine_version: null,
        architecture: null,
      },
      ...{
        cpus: null,
        memory_bytes: null,
        disk_free_bytes: null,
        last_seen_at: null,
        joined_at: 0,
        created_at: 0,
      },
    })
})
afterAll(() => close())

const SHOP: Stray = { kind: 'container', name: 'shop' }

/** What is found if the engines answer so; null for one that does not. */
function look(own: Stray[], others: Record<string, Stray[] | null>) {
  const engineOf = (found: Stray[] | null) => ({
    strays: async () => found ?? Promise.reject(new Error('it is away')),
  })
  const nodes = [
    { nodeId: ownNodeId(), engine: engineOf(own) },
    ...Object.entries(others).map(([nodeId, found]) => ({ nodeId, engine: engineOf(found) })),
  ]
  const facts = { engineInfoIfAny: async () => ({}), engine: engineOf(own), world: { engines: () => nodes } }
  return strays.look(facts as unknown as Facts, AbortSignal.timeout(1_000))
}

test('strays of another node are told with its name, and removed there', async () => {
  const data: Stray = { kind: 'volume', name: 'data' }
  const network: Stray = { kind: 'network', name: 'of-the-swarm' }
  const { outcome, message, fix } = await look([SHOP], { worker: [data, network], storage: [] })
  expect(outcome).toBe('warning')
  expect(message).toMatch(/^the container shop, the volume data on worker have the label/)
  expect(fix).toContain('then docker rm -f shop; on worker: docker volume rm data.')
})

test('a node that does not answer is told, and the others are looked at', async () => {
  expect(await look([], { worker: [], storage: null })).toMatchObject({
    outcome: 'passed',
    message: expect.stringMatching(/in its records; storage did not answer$/),
  })
  expect((await look([], { worker: null, storage: [SHOP] })).message).toMatch(
    /^the container shop on storage has the label .*; worker did not answer$/,
  )
})
