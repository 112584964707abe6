import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchFrom } from '../engine/live.ts'
import type { Machine } from '../stand/machine.ts'
import { say } from '../stand/run.ts'
import { waitFor } from '../support/wait.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startPlace, type InstanceView, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
/** The server counts as away after 15 s, and an engine begins again; the rest is a busy machine. */
const STARTED_MS = 90_000
const ASK_SECONDS = '2'
/** The port of a service's own. */
const SERVICE_PORT = 10_000

describe.skipIf(obstacle !== null)('while the server is away, on another node', () => {
  let place: Place
  let second: Machine
  let third: Machine
  let shop: InstanceView
  let other: InstanceView
  /** The id of the service whose one instance runs on the second machine. */
  let shopId: string

  beforeAll(async () => {
    place = await startPlace()
    ;[, second, third] = place.machines
    await place.join(second, third)
    shopId = await place.run('shop', `echo begun; ${PAGE_COMMAND}`, { placement: { nodes: [second.name] } })
    await place.run('other', PAGE_COMMAND, { placement: { nodes: [third.name] } })
    ;[shop] = (await place.settles('shop', (nodes) => nodes.length === 1)) as [InstanceView]
    ;[other] = (await place.settles('other', (nodes) => nodes.length === 1)) as [InstanceView]
  })
  afterAll(() => place?.stop())

  const inspect = async (machine: Machine, name: string, what: string) =>
    (await machine.docker('inspect', '--format', `{{${what}}}`, name)).trim()
  const policy = (name = shop.name, machine = second) =>
    inspect(machine, name, '.HostConfig.RestartPolicy.Name')
  const isMarked = () => waitFor(async () => (await policy()) === 'unless-stopped', 'the agent', STARTED_MS)

  /** Ends the program as a crash would, and waits until it answers again; returns after how many seconds. */
  async function crash(answers: () => Promise<void>): Promise<string> {
    const began = performance.now()
    await second.docker('exec', shop.name, 'killall', '-9', 'httpd')
    await waitFor(
      async () => {
        await answers()
        return true
      },
      'the shop to answer again',
      STARTED_MS,
    )
    return seconds(began)
  }

  const seconds = (began: number) => ((performance.now() - began) / 1_000).toFixed(1)

  /** Asks over the server's own data plane, which runs without the server. */
  async function answersVisitors(): Promise<void> {
    const { status, text } = await fetchFrom(place.server, 'shop.localhost')
    if (status !== 200) throw new Error(`${status} ${text}`)
  }

  /** Asks from the other service, over the network of the environment. */
  async function answersNeighbors(address: string): Promise<void> {
    const pid = await inspect(third, other.name, '.State.Pid')
    const ask = ['curl', '-sSf', '-m', ASK_SECONDS, `http://${address}:${SERVICE_PORT}`]
    await third.run('nsenter', '--net', '--target', pid, ...ask)
  }

  const addressOf = () => inspect(second, shop.name, 'range .NetworkSettings.Networks}}{{.IPAddress}}{{end')

  /** Starts the server again; nothing else is to have changed. */
  async function returns(): Promise<void> {
    const [before] = await place.containers(second, shopId)
    const began = performance.now()
    await place.server.restart()
    await place.becomes(second, 'ready')
    await waitFor(async () => (await policy()) === 'no', 'the server to have it back')
    say(`given back ${seconds(began)} s after the server began to start`)
    const [adopted] = await place.settles('shop', (nodes) => nodes.length === 1)
    expect(adopted!.name).toBe(shop.name)
    expect(await place.containers(second, shopId)).toEqual([before])
    expect(await policy(other.name, third)).toBe('no')
  }

  test('what ends is started again, at once or when the server counts as away', SLOW, async () => {
    const address = await addressOf()
    await place.server.kill()
    say(`a crash just after the end of the server: back after ${await crash(answersVisitors)} s`)
    expect(await policy()).toBe('unless-stopped')
    say(`another one: back after ${await crash(answersVisitors)} s`)
    expect(await addressOf()).toBe(address)
    await returns()
    // Its lines of meanwhile are not lost.
    await waitFor(async () => {
      const { body } = await place.server.api('GET', '/services/shop/logs')
      return String(body).match(/begun/g)?.length === 3
    }, 'the line of each start')
  })

  test('what ends with the engine is started again', SLOW, async () => {
    await place.server.kill()
    await isMarked()
    await second.killEngine()
    await second.startEngine()
    const began = performance.now()
    await waitFor(() => answersVisitors().then(() => true), 'the shop to answer again', STARTED_MS)
    say(`after an engine was killed and started: back after ${seconds(began)} s`)
    await returns()
  })

  test('what ends once the server has it back is started by the server alone', SLOW, async () => {
    const count = async () => {
      const [{ restarts, health }] = (await place.instances('shop')) as [InstanceView & { restarts: number }]
      return health === 'healthy' ? restarts : -1
    }
    const before = await count()
    await second.docker('exec', shop.name, 'killall', '-9', 'httpd')
    await waitFor(async () => (await count()) === before + 1, 'the server to start it again')
    expect(await policy()).toBe('no')
  })

  test('what ends while no engine manages the others is started again once one does', SLOW, async () => {
    const [own] = place.machines
    const address = await addressOf()
    await place.server.kill()
    await isMarked()
    await own.killEngine()
    await second.docker('exec', shop.name, 'killall', '-9', 'httpd')
    // Its engine looks for a manager in vain.
    const fault = await waitFor(
      async () => (await inspect(second, shop.name, '.State.Error')) || null,
      'the end of its tries',
      STARTED_MS,
    )
    expect(fault).toMatch(/attach/)
    await own.startEngine()
    const began = performance.now()
    await waitFor(() => answersNeighbors(address).then(() => true), 'the shop', STARTED_MS)
    say(`once the engine that manages the others is back: back after ${seconds(began)} s`)
    await returns()
  })
})
