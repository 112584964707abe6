import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchFrom } from '../engine/live.ts'
import type { Machine } from '../stand/machine.ts'
import { say } from '../stand/run.ts'
import { builtServer } from '../support/build.ts'
import { waitFor } from '../support/wait.ts'
import { Load } from './load.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startElsewhere, startPlace, type ContainerView, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
/** A manager is told as down after 15 to 30 s, which a machine that tests fill makes longer. */
const SETTLES_MS = 120_000
const TOKEN = ['swarm', 'join-token', '--quiet', 'manager']
/** Writes its starts to its disk, and serves what it wrote. */
const DIARY = 'hostname >> /data/index.html; exec httpd -f -p $PORT -h /data'

describe.skipIf(obstacle !== null)('three managers', () => {
  let place: Place
  let restored: Place | null = null
  const folder = mkdtempSync(join(tmpdir(), 'deployer-managers-'))

  beforeAll(async () => {
    place = await startPlace({ count: 4 })
    const [own, second, third] = place.machines
    await second.run('sh', '-c', await place.invite({ role: 'entry' }))
    await place.becomes(second, 'ready')
    await place.join(third)
    await place.run('shop', PAGE_COMMAND, {
      instances: 2,
      placement: { nodes: [second.name, third.name] },
    })
    await place.run('home', PAGE_COMMAND, { placement: { nodes: [own.name] } })
    await place.settles('shop', (nodes) => new Set(nodes).size === 2)
  })
  afterAll(async () => {
    await restored?.stop()
    await place?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const setManagers = (managers: number, ...nodes: Machine[]) =>
    place.server.api('POST', '/nodes', {
      managers,
      ...(nodes.length > 0 && { nodes: nodes.map(({ name }) => name) }),
    })

  /** Waits until these are the managers, as the server tells it and as the swarm does. */
  const become = async (at: Place, asked: Machine, ...names: string[]) => {
    await waitFor(
      async () => {
        const found = (await at.nodes()).filter(({ manager }) => manager !== null)
        const all = JSON.stringify(await at.nodes())
        if (found.some(({ manager }) => manager === 'unreachable')) throw new Error(all)
        if (found.map(({ name }) => name).join() !== names.join()) throw new Error(all)
        const listed = await asked.docker('node', 'ls', '--format', '{{.ManagerStatus}}')
        if (listed.match(/Leader|Reachable/g)?.length !== names.length) throw new Error(listed)
        return true
      },
      `the managers to be ${names.join()}`,
      SETTLES_MS,
    )
  }

  test(
    'are made of nodes that are ready, and are one again, whatever was killed meanwhile',
    SLOW,
    async () => {
      const [own, second, third, fourth] = place.machines
      expect(await setManagers(2)).toMatchObject({
        status: 409,
        body: { error: { message: expect.stringMatching(/^managers: with two/) } },
      })
      expect(await setManagers(3, fourth!)).toMatchObject({ status: 409 })
      let began = performance.now()
      const asked = await setManagers(3)
      expect(asked).toMatchObject({ status: 200 })
      await become(place, own, own.name, second.name, third.name)
      say(`three managers after ${Math.round(performance.now() - began)} ms`)
      expect(await place.remove(second)).toMatchObject({
        status: 409,
        body: { error: { message: expect.stringMatching(/is a manager: .*deployer node managers 1/) } },
      })
      expect(await setManagers(1)).toMatchObject({ status: 200 })
      await become(place, own, own.name)

      await setManagers(3)
      await place.server.kill()
      began = performance.now()
      await place.server.restart()
      await become(place, own, own.name, second.name, third.name)
      say(`three managers ${Math.round(performance.now() - began)} ms after the server was killed in between`)
    },
  )

  test('choose another leader when its engine is killed, and the server goes on', SLOW, async () => {
    const [own, second, third] = place.machines
    const load = new Load({ host: second.address, httpPort: place.server.httpPort }, 'shop.localhost')
    const began = performance.now()
    await own.killEngine()
    await waitFor(
      async () => (await second.docker('node', 'ls', '--format', '{{.ManagerStatus}}')).includes('Leader'),
      'another leader',
      SETTLES_MS,
    )
    say(`another leader after ${Math.round(performance.now() - began)} ms`)
    await own.startEngine()
    await become(place, second, own.name, second.name, third.name)
    for (const machine of [second, third]) await place.becomes(machine, 'ready', SETTLES_MS)
    await place.settles('home', (nodes) => nodes.length === 1, SETTLES_MS)
    const { failures, answered } = await load.stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(0)
    await place.run('after', PAGE_COMMAND, { placement: { nodes: [third.name] } })
    await place.server.api('DELETE', '/services/after')
  })

  test('that are mostly away stop what concerns the swarm alone, and say so', SLOW, async () => {
    const [own, second, third] = place.machines
    await second.cutOff()
    await third.cutOff()
    const { reason } = await waitFor(
      async () => {
        const node = (await place.nodes()).find(({ name }) => name === own.name)!
        if (node.manager !== 'unreachable') throw new Error(JSON.stringify(await place.nodes()))
        return node
      },
      'the server to see it',
      SETTLES_MS,
    )
    expect(reason).toMatch(/^the swarm does not answer/)
    await place.settles('home', (nodes) => nodes.length === 1)
    expect(await setManagers(1)).toMatchObject({ status: 409 })
    const { body } = await place.server.api('GET', '/server/doctor')
    const found = (body as { id: string }[]).find(({ id }) => id === 'nodes')
    expect(found).toMatchObject({ outcome: 'failed', fix: expect.stringContaining('--force-new-cluster') })
    // What is placed on the server's own node needs none of the others.
    const began = performance.now()
    await place.run('alone', PAGE_COMMAND, { placement: { nodes: [own.name] } })
    say(`a deploy on the own node without the swarm took ${Math.round(performance.now() - began)} ms`)
    await second.reconnect()
    await third.reconnect()
    await become(place, own, own.name, second.name, third.name)
    for (const machine of [second, third]) await place.becomes(machine, 'ready', SETTLES_MS)
    await place.settles('shop', (nodes) => nodes.length === 2, SETTLES_MS)
    await place.server.api('DELETE', '/services/alone')
  })

  test('bring the server back on another machine, when its own has burned', SLOW, async () => {
    const [own, second, third, fourth] = place.machines as [Machine, Machine, Machine, Machine]
    const { server } = place
    for (const name of ['cache', 'queue']) {
      const created = await server.api('POST', '/datastores', { kind: 'keyvalue', name, node: own.name })
      expect(created).toMatchObject({ status: 201 })
      const store = await becomesAvailable(place, name)
      await redis(own, store.external_url, 'set', 'at', 'first')
    }
    const diaryId = await place.run('diary', DIARY, { disk_mount_path: '/data', node: own.name })
    const { id: backupId } = (await server.api('POST', '/server/backups', { logs: false })).body
    await waitFor(
      async () => (await server.api('GET', `/server/backups/${backupId}`)).body.status === 'succeeded',
      'the backup',
      SETTLES_MS,
    )
    const backup = join(folder, 'backup.tar.gz')
    const stored = (await server.api('GET', `/server/backups/${backupId}`)).body
    copyFileSync(join(server.dataDirectory, 'backups', 'server', backupId), backup)
    expect(stored.status).toBe('succeeded')
    // The backup has them on the machine that burns.
    for (const path of ['/services/diary', '/datastores/queue'])
      expect(await server.api('POST', `${path}/move`, { node: third.name })).toMatchObject({ status: 202 })
    await place.settles('diary', (nodes) => nodes.join() === third.name, SETTLES_MS)
    const queue = await becomesAvailable(place, 'queue', third)
    await redis(own, queue.external_url, 'set', 'at', 'second')
    const door = { host: second.address, httpPort: server.httpPort }
    const diary = () => fetchFrom(door, 'diary.localhost')
    const written = (await waitFor(async () => ok(await diary()), 'the diary at the entry')).text
    const load = new Load(door, 'shop.localhost')
    await server.kill()
    await own.end()
    const burned = performance.now()
    const after = () => `${Math.round((performance.now() - burned) / 100) / 10} s after the fire`
    const token = await waitFor(async () => (await second.docker(...TOKEN)).trim(), 'a leader', SETTLES_MS)
    const [diarist] = (await place.containers(third, diaryId)) as [ContainerView]
    let healed = written
    for (const which of ['first', 'second']) {
      const before = healed
      await third.docker('exec', diarist.name, 'killall', '-9', 'httpd')
      say(`a program was killed ${after()}`)
      const ended = performance.now()
      healed = await waitFor(
        async () => {
          const { text } = ok(await diary())
          if (text === before) throw new Error('it still runs')
          return text
        },
        'what ended on a node to be started again by its agent',
        SETTLES_MS,
      )
      expect(healed.startsWith(before)).toBe(true)
      say(`the ${which} time, it answers again ${Math.round(performance.now() - ended)} ms later`)
    }
    await fourth.docker('swarm', 'join', '--token', token, `${second.address}:2377`)
    say(`the new machine is a manager ${after()}`)
    const data = join(folder, 'data')
    const entry = await builtServer()
    await fourth.run(process.execPath, entry, 'restore', backup, '--data-dir', data)
    restored = await startElsewhere(place.machines, fourth, data, [
      ...['--http-listen', `${fourth.address}:${server.httpPort}`],
      ...['--https-listen', `${fourth.address}:${server.httpsPort}`],
    ])
    const { server: again } = restored
    await fourth.run(process.execPath, entry, 'restore', '--confirm', '--data-dir', data)
    const began = performance.now()
    await waitFor(
      async () => {
        const node = (await restored!.nodes()).find(({ roles }) => roles.includes('server'))
        if (node?.address !== fourth.address || node.name !== own.name) throw new Error(JSON.stringify(node))
        return true
      },
      'the server to take its place',
      SETTLES_MS,
    )
    for (const machine of [second, third]) await restored.becomes(machine, 'ready', SETTLES_MS)
    await become(restored, second, own.name, second.name, third.name)
    say(
      `the server has its nodes ${Math.round(performance.now() - began)} ms after it was confirmed, ${after()}`,
    )
    await waitFor(
      async () => {
        const { body } = await again.api('GET', '/server/restore')
        if (body.status !== 'done') throw new Error(JSON.stringify(body))
        return true
      },
      'the end of the restore',
      SETTLES_MS * 2,
    )
    const { body } = await again.api('GET', '/server/restore')
    expect(body.steps.filter(({ status }: { status: string }) => status === 'failed')).toEqual([])
    say(`the restore has ended ${after()}`)
    await restored.settles('shop', (where) => new Set(where).size === 2, SETTLES_MS)
    await restored.settles('home', (where) => where.length === 1, SETTLES_MS)
    for (const [name, value] of [
      ['cache', 'first'],
      ['queue', 'second'],
    ] as const) {
      const url = (await becomesAvailable(restored, name)).external_url
      expect(await redis(fourth, url, 'get', 'at')).toContain(value)
    }
    // What was moved after the backup is where it was moved to, and nowhere else.
    await becomesAvailable(restored, 'queue', third)
    await restored.settles('diary', (where) => where.join() === third.name, SETTLES_MS)
    await waitFor(async () => {
      const running = await Promise.all(
        [second, third, fourth].map((machine) => restored!.containers(machine, diaryId)),
      )
      if (running.flat().length !== 1) throw new Error(JSON.stringify(running))
      return true
    }, 'one instance of the diary')
    expect(ok(await diary()).text).toMatch(new RegExp(`^${healed}`))
    expect(body.steps.filter(({ resource }: { resource: string }) => resource === 'unknown')).toEqual([])
    say(`everything runs again ${after()}`)
    // Nothing is left of what ran before there was a new deploy of it, for which its image was needed here.
    const shop = (await again.api('GET', '/services/shop')).body.id
    for (const machine of [second, third]) {
      await waitFor(
        async () => (await restored!.containers(machine, shop)).length === 1,
        `one instance on ${machine.name}`,
      )
    }
    expect(
      (await second.docker('node', 'ls', '--format', '{{.Hostname}}')).trim().split('\n').toSorted(),
    ).toEqual([second, third, fourth].map(({ name }) => name))
    await restored.deploy('fresh', 'fresh', { instances: 3 })
    await restored.settles('fresh', (where) => new Set(where).size === 3, SETTLES_MS)
    const { failures, answered } = await load.stop()
    expect(failures).toEqual([])
    say(`${answered} requests through the entry meanwhile`)
  })
})

/** Throws unless a page was answered. */
function ok<T extends { status: number; text: string }>(answer: T): T {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return answer
}

/** Waits until a datastore can be used, on a machine if one is given. */
function becomesAvailable(
  { server }: Place,
  name: string,
  machine?: Machine,
): Promise<{ external_url: string }> {
  return waitFor(
    async () => {
      const { body } = await server.api('GET', `/datastores/${name}`)
      if (body.status !== 'available' || (machine && body.node_name !== machine.name))
        throw new Error(JSON.stringify(body))
      return body
    },
    `the datastore ${name}`,
    SETTLES_MS,
  )
}

function redis(machine: Machine, url: string, ...command: string[]): Promise<string> {
  return machine.docker('run', '--rm', '--network', 'host', 'redis:7', 'redis-cli', '-u', url, ...command)
}
