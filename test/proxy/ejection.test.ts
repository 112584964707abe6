import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { Upstream } from '../../proxy/protocol.ts'
import { ask } from './apps.ts'
import { app, closing, start as startStand } from './lifetimes.ts'
import { HttpUpstream, type ProxyStand, statusOf, tableOf } from './stand.ts'

async function start(...upstreams: Upstream[]): Promise<ProxyStand> {
  return startStand(tableOf(upstreams))
}

/** An address where nothing listens. */
async function refusing(instance: string): Promise<Upstream> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { instance, host: '127.0.0.1', port }
}

/** Starts an app where nothing listened. */
async function appear({ instance, port }: Upstream): Promise<void> {
  const upstream = await app(instance)
  upstream.server.close()
  await once(upstream.server, 'close')
  upstream.server.listen(port, '127.0.0.1')
  await once(upstream.server, 'listening')
}

/** The instance that answered. */
async function server(stand: ProxyStand): Promise<string> {
  const answer = await ask(stand, '/')
  expect(statusOf(answer)).toBe(200)
  return answer.split(' ').at(-1)!
}

test('if every instance refuses, they are still tried, and serve as soon as they can', async () => {
  const first = await refusing('first')
  const stand = await start(first, await refusing('second'))
  for (let request = 0; request < 6; request++) expect(statusOf(await ask(stand, '/'))).toBe(502)
  await appear(first)
  expect(await server(stand)).toBe('first')
})

test('requests under way at an instance that dies are answered by another', async () => {
  const held: (() => void)[] = []
  const holding = async (name: string) =>
    closing(
      await HttpUpstream.start(name, (_request, response) => void held.push(() => response.end(` ${name}`))),
    )
  const arrived = async (requests: number) => await expect.poll(() => held.length).toBe(requests)
  const answerAll = () => held.splice(0).forEach((answer) => answer())
  const dying = await holding('dying')
  const stand = await start(dying.spec, (await holding('other')).spec)
  const asked = () => Promise.all(Array.from({ length: 20 }, () => ask(stand, '/')))
  // Over kept connections, since requests over new ones are not sent again.
  const before = asked()
  await arrived(20)
  answerAll()
  await before
  const answers = asked()
  await arrived(20)
  dying.close()
  await arrived(30)
  answerAll()
  for (const answer of await answers) expect(answer).toMatch(/ other$/)
})

test('a slow instance gets fewer requests than a fast one', async () => {
  const stand = await start((await app('slow', 300)).spec, (await app('fast', 5)).spec)
  const answers: string[] = []
  const until = performance.now() + 2_000
  const clients = Array.from({ length: 6 }, async () => {
    while (performance.now() < until) answers.push(await server(stand))
  })
  await Promise.all(clients)
  const slow = answers.filter((name) => name === 'slow').length
  expect(slow).toBeGreaterThan(0)
  expect(answers.length - slow).toBeGreaterThan(slow)
})

test('an instance that leaves the table finishes its requests, and gets no more', async () => {
  const slow = await app('slow', 500)
  const stand = await start(slow.spec)
  let arrived = 0
  slow.server.on('request', () => arrived++)
  const open = Array.from({ length: 5 }, (_, number) => ask(stand, `/${number}`))
  await expect.poll(() => arrived).toBe(5)
  await stand.client.applyTable(tableOf([{ ...slow.spec, draining: true }, (await app('next')).spec]))
  for (let request = 0; request < 5; request++) expect(await server(stand)).toBe('next')
  for (const answer of await Promise.all(open)) expect(answer).toMatch(/slow$/)
})
