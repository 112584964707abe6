import { Agent, request } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Machine } from '../stand/machine.ts'
import { say } from '../stand/run.ts'
import { builtServer } from '../support/build.ts'
import { uploadSelfSigned } from '../support/certificate.ts'
import { samplesIn, scrape } from '../support/metrics.ts'
import { waitFor } from '../support/wait.ts'
import { Load, type Answers, type Door } from './load.ts'
import { obstacle } from './obstacle.ts'
import { startPlace, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
const SERVES_MS = 60_000
/** A change waits 5 s for an entry; the rest is a busy machine. */
const HELD_UP_MS = 20_000
/** Requests of one kind, by which they are timed. */
const TIMED = 300
const CHANGES = 15

describe.skipIf(obstacle !== null)('an entry on another machine', () => {
  let place: Place
  let entry: Machine
  let third: Machine
  /** How long a change of routes takes without an entry. */
  let changeMs: number
  beforeAll(async () => {
    place = await startPlace()
    ;[, entry, third] = place.machines
    await place.join(third)
    await place.deploy('far', 'far', { placement: { nodes: [third.name] } })
    changeMs = await timeOfChange()
    await entry.run('sh', '-c', await place.invite({ role: 'entry' }))
    await place.becomes(entry, 'ready')
    // One instance on each machine.
    await place.deploy('shop', 'first', { instances: 3 })
    await place.settles('shop', (nodes) => new Set(nodes).size === 3)
    await place.deploy('sealed', 'sealed', { placement: { nodes: [third.name] } })
    await place.publish('site', 'published once')
    await uploadSelfSigned(place.server, 'sealed.localhost', 1)
  })
  afterAll(() => place?.stop())

  const own = (): Door & { httpsPort: number } => place.server
  const there = () => {
    const { httpPort, httpsPort } = place.server
    return { host: entry.address, httpPort, httpsPort }
  }

  /** What a host says at a door; a text that says why for none. */
  async function page({ host, httpPort, httpsPort }: ReturnType<typeof own>, name: string, isSecure = false) {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const options = { host, port: isSecure ? httpsPort : httpPort, agent: false, timeout: 5_000 } as const
    const secure = { ...options, servername: name, rejectUnauthorized: false, headers: { host: name } }
    const asked = isSecure ? requestByHttps(secure) : request({ ...options, headers: { host: name } })
    asked.on('response', (answer) => {
      text(answer).then((body) => resolve(`${answer.statusCode} ${body.trim()}`), reject)
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', reject).end()
    return promise.catch((error: Error) => error.message)
  }

  const serves = (name: string, part: string) =>
    waitFor(
      async () => {
        const said = await page(there(), name)
        if (!said.includes(part)) throw new Error(said)
        return true
      },
      `the entry to serve ${name}`,
      SERVES_MS,
    )

  /** The same at both doors at once. */
  async function underLoadAtBoth(work: () => Promise<void>): Promise<Answers[]> {
    const load = new Load(there(), 'shop.localhost')
    try {
      return [await place.underLoad('shop', work), load.answers]
    } finally {
      await load.stop()
    }
  }

  /** The milliseconds of one request at a door, of many one after another. */
  async function timeOf({ host, httpPort: port }: Door, name: string): Promise<number> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const times: number[] = []
    for (let number = 0; number < TIMED; number++) {
      const began = performance.now()
      await new Promise<void>((resolve, reject) => {
        request({ host, port, agent, headers: { host: name } }, (answer) => {
          text(answer).then(() => resolve(), reject)
        })
          .on('error', reject)
          .end()
      })
      times.push(performance.now() - began)
    }
    agent.destroy()
    return median(times)
  }

  /** The milliseconds of a change of routes, by the API. */
  async function timeOfChange(): Promise<number> {
    const times: number[] = []
    for (let number = 0; number < CHANGES; number++) {
      const began = performance.now()
      const { status } = await place.server.api('PATCH', '/services/far', { compression: number % 2 === 0 })
      expect(status).toBe(200)
      times.push(performance.now() - began)
    }
    return median(times)
  }

  test('serves instances of all machines, a static site and HTTPS, as the server does', SLOW, async () => {
    await serves('far.localhost', '200 far')
    expect((await place.nodes()).map(({ roles }) => roles.includes('entry'))).toEqual([true, true, false])
    expect(await page(there(), 'site.localhost')).toBe('200 published once')
    const sealed = await page(there(), 'sealed.localhost', true)
    expect(sealed).toMatch(/^200 sealed /)
    expect(sealed).toBe(await page(own(), 'sealed.localhost', true))
    const { bodies, failures } = await (async () => {
      const load = new Load(there(), 'shop.localhost')
      await waitFor(() => load.answers.answered >= 100, 'answers')
      return load.stop()
    })()
    expect([failures, bodies.size]).toEqual([[], 3])
    // Names of hosts that nobody has are as unknown there.
    expect(await page(there(), 'nobody.localhost')).toMatch(/^404 /)
    const [atServer, atEntry] = [await timeOf(own(), 'far.localhost'), await timeOf(there(), 'far.localhost')]
    say(`a request: ${atServer} ms at the server, ${atEntry} ms at the entry`)
    say(`a change of routes: ${changeMs} ms without an entry, ${await timeOfChange()} ms with one`)
    say(`memory of the entry: ${await entry.docker('stats', '--no-stream', '--format', '{{.MemUsage}}')}`)
  })

  test('costs no request at either when the server is killed in a rollout', SLOW, async () => {
    const doors = await underLoadAtBoth(async () => {
      const before = await place.instances('shop')
      await place.server.api('POST', '/services/shop/restart')
      await waitFor(async () => (await place.instances('shop')).length > before.length, 'a new instance')
      await place.server.kill()
      await place.server.restart()
      await place.settles('shop', (nodes) => nodes.length === 3, SERVES_MS)
    })
    for (const { failures } of doors) expect(failures).toEqual([])
  })

  test('takes part in each rollout, with no request failed at either', SLOW, async () => {
    for (const word of ['second', 'third']) {
      const doors = await underLoadAtBoth(() => place.deploy('shop', word).then(() => {}))
      for (const { failures, answered } of doors) {
        expect(failures).toEqual([])
        expect(answered).toBeGreaterThan(100)
      }
      expect(await page(there(), 'shop.localhost')).toContain(word)
    }
    await place.publish('site', 'published twice')
    expect(await page(there(), 'site.localhost')).toBe('200 published twice')
  })

  test(
    'counts with the server, also through a restart, and has its requests in the access log',
    SLOW,
    async () => {
      const counted = async () => {
        const samples = samplesIn(await scrape(place.server)).filter(
          ({ name, labels }) => name === 'svc_http_requests_total' && labels.name === 'far',
        )
        return samples.find(({ labels }) => labels.status_class === '2xx')?.value ?? 0
      }
      const first = await counted()
      await place.server.api('PATCH', '/services/far', { access_log: true })
      await page(there(), 'far.localhost')
      await waitFor(async () => {
        const { body } = await place.server.api('GET', '/services/far/logs?stream=access')
        return String(body).includes('far.localhost')
      }, 'the line of the request')
      await waitFor(async () => (await counted()) > first, 'the count of the request')
      const before = await counted()
      for (let number = 0; number < 50; number++) await page(there(), 'far.localhost')
      await waitFor(async () => (await counted()) >= before + 50, 'the counts')
      expect(await counted()).toBe(before + 50)
      await entry.docker('restart', '-t', '1', (await left()).split('\n')[0]!)
      await serves('site.localhost', '200')
      for (let number = 0; number < 20; number++) await page(there(), 'far.localhost')
      await waitFor(async () => (await counted()) >= before + 70, 'the counts after the restart')
      expect(await counted()).toBe(before + 70)
    },
  )

  test(
    'that is cut off holds up no deploy for long, and serves the new one once it is back',
    SLOW,
    async () => {
      const began = performance.now()
      await place.deploy('far', 'near')
      const usualMs = performance.now() - began
      await entry.cutOff()
      const cut = performance.now()
      await place.deploy('far', 'nearer')
      const heldUpMs = performance.now() - cut - usualMs
      say(
        `a deploy: ${Math.round(usualMs)} ms, and with an entry that is cut off ${Math.round(heldUpMs)} ms more`,
      )
      expect(heldUpMs).toBeLessThan(HELD_UP_MS)
      expect(await page(own(), 'far.localhost')).toContain('nearer')
      await entry.reconnect()
      await serves('far.localhost', 'nearer')
      await place.becomes(entry, 'ready')
      await waitFor(async () => (await place.becomes(entry, 'ready')).reason === null, 'the entry to be well')
    },
  )

  test('serves on while the server and its data plane are down', SLOW, async () => {
    await place.server.kill()
    const [own] = place.machines
    const stop = ['stop', '--all', '--data-dir', place.server.dataDirectory]
    await own.run(process.execPath, await builtServer(), ...stop)
    await waitFor(
      async () => (await page(place.server, 'far.localhost')).includes('ECONNREFUSED'),
      'the end of the data plane',
    )
    expect(await page(there(), 'far.localhost')).toMatch(/^200 nearer /)
    expect(await page(there(), 'site.localhost')).toBe('200 published twice')
    expect(await page(there(), 'sealed.localhost', true)).toMatch(/^200 sealed /)
    await place.server.restart()
    await waitFor(async () => (await page(place.server, 'far.localhost')).includes('nearer'), 'the server')
    await place.deploy('far', 'last')
    await serves('far.localhost', 'last')
  })

  test(
    'serves on while it is drained, and ends with all that it had when it is one no more',
    SLOW,
    async () => {
      await place.patch(entry, { availability: 'drain' })
      await place.becomes(entry, 'drained')
      expect(await page(there(), 'site.localhost')).toMatch(/^200 /)
      expect(await place.patch(entry, { entry: false })).toMatchObject({ status: 200, body: { roles: [] } })
      await waitFor(async () => (await left()) === '', 'the end of the entry', SERVES_MS)
      expect(await page(there(), 'far.localhost')).toMatch(/ECONNREFUSED/)
    },
  )

  /** What an entry has on its machine. */
  const left = async (): Promise<string> => {
    const filter = ['-q', '--filter', 'label=deployer.kind=entry']
    return (await entry.docker('ps', '-a', ...filter)) + (await entry.docker('volume', 'ls', ...filter))
  }

  test('ends with its node', SLOW, async () => {
    await place.patch(entry, { entry: true })
    await serves('site.localhost', '200')
    expect(await place.remove(entry)).toMatchObject({ status: 204 })
    expect(await left()).toBe('')
  })
})

function median(values: number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return Number(sorted[Math.floor(sorted.length / 2)]!.toFixed(2))
}
