import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchFrom } from '../engine/live.ts'
import { waitFor } from '../support/wait.ts'
import { obstacle } from './obstacle.ts'
import { startPlace, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
/** Writes its starts to its disk, and serves what it wrote. */
const DIARY = 'hostname >> /data/index.html; exec httpd -f -p $PORT -h /data'

describe.skipIf(obstacle !== null)('what has its data on a node', () => {
  let place: Place

  beforeAll(async () => {
    place = await startPlace()
    const [, ...others] = place.machines
    await place.join(...others)
  })
  afterAll(() => place?.stop())

  /** Waits until a service or datastore is on a machine. */
  const arrives = (path: string, machine: Place['machines'][number]) =>
    waitFor(async () => {
      const { body } = await place.server.api('GET', path)
      if (body.node_name !== machine.name || !['running', 'available'].includes(body.state ?? body.status))
        throw new Error(JSON.stringify(body))
      return body
    }, `${path} on ${machine.name}`)

  test('a service with a disk moves with its content, and never runs twice', SLOW, async () => {
    const [own, second, third] = place.machines
    const id = await place.run('diary', DIARY, { disk_mount_path: '/data', node: second.name })
    expect(await place.containers(second, id)).toHaveLength(1)
    const page = async () => (await fetchFrom(place.server, 'diary.localhost')).text
    const before = await page()
    expect(await place.server.api('POST', '/services/diary/move', { node: second.name })).toMatchObject({
      status: 409,
    })
    expect(await place.server.api('POST', '/services/diary/move', { node: third.name })).toMatchObject({
      status: 202,
    })
    await arrives('/services/diary', third)
    await place.settles('diary', (nodes) => nodes.join() === third.name)
    expect(await page()).toMatch(new RegExp(`^${before}.+`, 's'))
    expect(await place.containers(second, id)).toEqual([])
    expect(await place.containers(own, id)).toEqual([])
  })

  test('keeps a node in its drain, which names it, until it has moved', SLOW, async () => {
    const [, second, third] = place.machines
    await place.patch(third, { availability: 'drain' })
    const { reason } = await place.becomes(third, 'draining')
    expect(reason).toContain('diary')
    expect(await place.remove(third)).toMatchObject({ status: 409 })
    await place.server.api('POST', '/services/diary/move', { node: second.name })
    await arrives('/services/diary', second)
    await place.becomes(third, 'drained')
    await place.patch(third, { availability: 'active' })
    await place.becomes(third, 'ready')
  })

  test(
    'a datastore moves with its content, and is reached at the same address of the server before and after',
    SLOW,
    async () => {
      const [own, second, third] = place.machines
      const created = await place.server.api('POST', '/datastores', {
        kind: 'keyvalue',
        name: 'cache',
        node: second.name,
      })
      expect(created).toMatchObject({ status: 201 })
      const { external_url: url } = await arrives('/datastores/cache', second)
      const client = (...command: string[]) =>
        own.docker('run', '--rm', '--network', 'host', 'redis:7', 'redis-cli', '-u', url, ...command)
      await client('set', 'at', 'first')
      expect(await place.server.api('POST', '/datastores/cache/move', { node: third.name })).toMatchObject({
        status: 202,
      })
      const { external_url: after } = await arrives('/datastores/cache', third)
      expect(after).toBe(url)
      expect(await client('get', 'at')).toContain('first')
    },
  )
})
