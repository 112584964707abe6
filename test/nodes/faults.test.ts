import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Machine } from '../stand/machine.ts'
import { waitFor } from '../support/wait.ts'
import { CLIENTS } from './load.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startPlace, type InstanceView, type Place } from './place.ts'

/** What the server promises is a third of these: a machine that tests fill is slower. */
const REPLACED_MS = 60_000
const ORPHAN_GONE_MS = 30_000

const SLOW = { tags: ['slow'] }

describe.skipIf(obstacle !== null)('a fault of a node', () => {
  let place: Place
  let shop: string

  beforeAll(async () => {
    place = await startPlace()
    const [, ...others] = place.machines
    await place.join(...others)
    shop = await place.run('shop', PAGE_COMMAND, { instances: 3 })
    await place.settles('shop', (nodes) => new Set(nodes).size === 3)
  })
  afterAll(() => place?.stop())

  const runsOn = async (machine: Machine): Promise<InstanceView[]> =>
    (await place.instances('shop')).filter(({ node_name }) => node_name === machine.name)

  test(
    'costs at most the open requests when the node is cut off, whose instances are replaced and do not survive its return',
    SLOW,
    async () => {
      const [own, , lost] = place.machines
      const diary = await place.run('diary', PAGE_COMMAND, { disk_mount_path: '/data', node: lost.name })
      const { failures } = await place.underLoad('shop', async () => {
        await lost.cutOff()
        await place.becomes(lost, 'down', REPLACED_MS)
        await place.settles('shop', (nodes) => nodes.length === 3 && !nodes.includes(lost.name), REPLACED_MS)
      })
      expect(failures.slice(CLIENTS)).toEqual([])

      // What has data there waits for it, and is not started beside it.
      const { body } = await place.server.api('GET', '/services/diary')
      expect(body).toMatchObject({ state: 'down', node_name: lost.name })
      for (const machine of place.machines.filter((each) => each !== lost))
        expect(await place.containers(machine, diary)).toEqual([])
      expect(await place.containers(lost, diary)).toHaveLength(1)
      expect(await place.containers(lost, shop)).toHaveLength(1)

      const { failures: back } = await place.underLoad('shop', async () => {
        await lost.reconnect()
        await place.becomes(lost, 'ready')
        await waitFor(
          async () => (await place.containers(lost, shop)).length === 0,
          'the end of the orphan',
          ORPHAN_GONE_MS,
        )
      })
      expect(back).toEqual([])
      await place.settles('diary', (nodes) => nodes.join() === lost.name)
      expect(await place.containers(lost, diary)).toHaveLength(1)
      expect(await place.containers(own, shop)).not.toEqual([])
      await place.server.api('DELETE', '/services/diary')
    },
  )

  test(
    'costs at most the open requests when its engine is killed, whose instances come back or are replaced',
    SLOW,
    async () => {
      const [, second] = place.machines
      expect(await runsOn(second)).not.toEqual([])
      const { failures } = await place.underLoad('shop', async () => {
        await second.killEngine()
        await second.startEngine()
        await place.becomes(second, 'ready')
        await place.settles('shop', (nodes) => nodes.length === 3, REPLACED_MS)
      })
      expect(failures.slice(CLIENTS)).toEqual([])
      // What the engine runs is what the server knows of.
      await waitFor(
        async () => (await place.containers(second, shop)).length === (await runsOn(second)).length,
        'the end of what was replaced',
      )
    },
  )

  test(
    'costs no request when the server is killed in a rollout over nodes, and leaves nothing behind',
    SLOW,
    async () => {
      const { server, machines } = place
      const { failures } = await place.underLoad('shop', async () => {
        const before = await place.instances('shop')
        await server.api('POST', '/services/shop/restart')
        await waitFor(async () => (await place.instances('shop')).length > before.length, 'a new instance')
        await server.kill()
        await server.restart()
        await place.settles('shop', (nodes) => nodes.length === 3, REPLACED_MS)
      })
      expect(failures).toEqual([])
      await waitFor(async () => {
        const found = await Promise.all(machines.map((machine) => place.containers(machine, shop)))
        return found.flat().length === 3
      }, 'the end of what the rollout began')
    },
  )

  test('is over once the engine of the server’s own node runs again', SLOW, async () => {
    const [own, ...others] = place.machines
    await own.killEngine()
    await own.startEngine()
    for (const machine of others) await place.becomes(machine, 'ready', REPLACED_MS)
    // An instance counts as healthy until its probes fail, so requests tell when the way to the others is there again.
    await waitFor(
      async () => {
        const { failures, bodies } = await place.underLoad('shop', async () => {})
        if (failures.length > 0) throw new Error(failures.join('\n'))
        return bodies.size === 3
      },
      'all instances to answer',
      REPLACED_MS,
    )
  })

  test(
    'is not one when the registry has ended: what runs goes on, and the next deploy gets its images',
    SLOW,
    async () => {
      const [own] = place.machines
      await place.deploy('fresh', 'first', { instances: 3 })
      const registry = await own.docker('ps', '-q', '--filter', 'label=deployer.kind=registry')
      expect(registry).not.toBe('')
      const { failures } = await place.underLoad('shop', async () => {
        await own.docker('kill', registry.trim())
        await place.deploy('fresh', 'second')
      })
      expect(failures).toEqual([])
      await place.settles('fresh', (nodes) => new Set(nodes).size === 3)
      await place.server.api('DELETE', '/services/fresh')
    },
  )

  test(
    'ends the membership of a node that does not come back, when it is removed as lost',
    SLOW,
    async () => {
      const [, , lost] = place.machines
      expect(await place.remove(lost, '?lost=true')).toMatchObject({ status: 409 })
      await lost.cutOff()
      await place.becomes(lost, 'down', REPLACED_MS)
      expect(await place.remove(lost)).toMatchObject({ status: 409 })
      expect(await place.remove(lost, '?lost=true')).toMatchObject({ status: 204 })
      expect((await place.nodes()).map(({ name }) => name)).not.toContain(lost.name)
      await place.settles('shop', (nodes) => nodes.length === 3)
    },
  )
})
