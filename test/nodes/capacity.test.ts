import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { obstacle } from './obstacle.ts'
import { startPlace, type ContainerView, type Place } from './place.ts'

describe.skipIf(obstacle !== null)('a server that gets more machines', () => {
  let place: Place
  let id: string
  let before: ContainerView[]

  beforeAll(async () => {
    place = await startPlace()
    id = await place.deploy('shop', 'first', { instances: 2 })
    before = await place.containers(place.machines[0], id)
  })
  afterAll(() => place?.stop())

  test('is as before until one joins by the printed command, and then has two nodes, with no request failed and nothing restarted', async () => {
    const [own, second] = place.machines
    expect(before).toHaveLength(2)
    expect(await place.nodes()).toMatchObject([{ name: own.name, status: 'ready', instances: 2 }])
    const { failures, answered } = await place.underLoad('shop', () => place.join(second))
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
    expect(await place.containers(own, id)).toEqual(before)
    expect(await place.nodes()).toMatchObject([
      { name: own.name, status: 'ready', instances: 2 },
      { name: second.name, status: 'ready', instances: 0 },
    ])
  })

  test('spreads the instances of the next deploy over both, with no request failed', async () => {
    const { failures, bodies } = await place.underLoad('shop', async () => {
      await place.deploy('shop', 'second')
      await place.settles('shop', (nodes) => new Set(nodes).size === 2)
      await place.deploy('shop', 'third')
    })
    expect(failures).toEqual([])
    const third = () => [...bodies].filter((body) => body.startsWith('third'))
    await place.settles('shop', (nodes) => nodes.length === 2 && new Set(nodes).size === 2)
    const { bodies: now } = await place.underLoad('shop', async () => {})
    expect(third().length).toBeGreaterThan(0)
    expect([...now].filter((body) => body.startsWith('third'))).toHaveLength(2)
  })

  test('drains a node with no request failed, and refuses to drain the last one', async () => {
    const [own, second] = place.machines
    const { failures } = await place.underLoad('shop', async () => {
      expect(await place.patch(second, { availability: 'drain' })).toMatchObject({ status: 200 })
      await place.becomes(second, 'drained')
    })
    expect(failures).toEqual([])
    expect(await place.containers(second, id)).toEqual([])
    expect(await place.instances('shop')).toMatchObject([{ node_name: own.name }, { node_name: own.name }])
    const refused = await place.patch(own, { availability: 'drain' })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(refused.body.error.message).toContain('shop')
  })

  test('is of one machine again when the other has left, with no request failed and nothing restarted', async () => {
    const [own, second] = place.machines
    const kept = await place.containers(own, id)
    const { failures } = await place.underLoad('shop', async () => {
      expect(await place.remove(second)).toMatchObject({ status: 204 })
      await waitFor(async () => (await swarmOf(own)) === 'inactive', 'the end of the swarm')
    })
    expect(failures).toEqual([])
    expect(await place.containers(own, id)).toEqual(kept)
    expect(await swarmOf(second)).toBe('inactive')
    expect(await place.nodes()).toMatchObject([{ name: own.name, status: 'ready' }])
  })
})

async function swarmOf(machine: Place['machines'][number]): Promise<string> {
  return (await machine.docker('info', '--format', '{{.Swarm.LocalNodeState}}')).trim()
}
