import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { messageOf } from '#server/errors.ts'
import { judgedAgents, judgedDispatcher, KEEPS_CONNECTIONS } from '#server/network/agents.ts'
import { textWithin } from '#server/network/answers.ts'
import { askJson } from '#server/network/json.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import { send } from '#server/network/outgoing.ts'
import { request } from '#server/network/request.ts'

/** What names resolve to, one answer after another. */
const answers: string[][] = []
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof import('node:dns')>()),
  lookup: (_host: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(
      null,
      answers.shift()!.map((address) => ({ address, family: 4 })),
    ),
}))

const signal = new AbortController().signal
const agents = judgedAgents(() => DESTINATIONS, KEEPS_CONNECTIONS)
const dispatcher = judgedDispatcher(() => DESTINATIONS, 10_000)

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test.each([
  ['a request', (url: URL) => request({ url, agents, signal }).then((answer) => textWithin(answer, 100))],
  [
    'a request for JSON',
    async (url: URL) => (await askJson(url.href, {}, { dispatcher, signal, maxBytes: 100 })).body,
  ],
])('a name that changes to a forbidden address is refused at the next connection of %s', async (_, ask) => {
  const port = await serve((_, response) => response.setHeader('connection', 'close').end('"one"'))
  const url = new URL(`http://changing.example:${port}/`)
  answers.push(['127.0.0.1'], ['127.0.0.1', '169.254.169.254'])
  expect(await ask(url)).toMatch('one')
  await expect(ask(url)).rejects.toThrow(
    /^changing\.example resolves to 169\.254\.169\.254, which is a link-local/,
  )
})

test('a name at none of whose addresses anything listens is reported with a reason', async () => {
  answers.push(['127.0.0.1', '127.0.0.2'])
  const sending = send({ method: 'POST', url: 'http://two.example:1/', headers: {}, body: '', signal })
  const fault = await sending.catch((error: unknown) => error)
  expect(messageOf(fault)).toBe('connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.2:1')
})

test('a compressed answer is bounded by what it becomes', async () => {
  const compressed = gzipSync(`{}${' '.repeat(1024 * 1024 - 2)}`)
  const port = await serve((_, response) => response.setHeader('content-encoding', 'gzip').end(compressed))
  const url = `http://127.0.0.1:${port}/`
  const ask = (maxBytes: number) => askJson(url, {}, { dispatcher, signal, maxBytes })
  expect(await ask(1024 * 1024)).toMatchObject({ body: {}, isTooLong: false })
  expect(await ask(1024 * 1024 - 1)).toMatchObject({ body: undefined, isTooLong: true })
})

test('a server may be silent longer than a connection is kept for another request', async () => {
  const port = await serve((_, response) => void delay(150).then(() => response.end('late')))
  const brief = judgedAgents(() => DESTINATIONS, { keepAlive: true, timeout: 50 })
  const answer = await request({ url: new URL(`http://127.0.0.1:${port}/`), agents: brief, signal })
  expect(await textWithin(answer, 100)).toBe('late')
})

test('an answer that waits for its reader is not silent', async () => {
  const port = await serve((_, response) => response.end(Buffer.alloc(8 * 1024 * 1024, ' ')))
  const url = new URL(`http://127.0.0.1:${port}/`)
  const answer = await request({ url, agents, signal, silenceMs: 400 })
  await delay(1_000)
  expect(await textWithin(answer, 8 * 1024 * 1024)).toHaveLength(8 * 1024 * 1024)
})

test('an answer that falls silent is given up', async () => {
  const port = await serve((_, response) => response.writeHead(200).write('begun'))
  const url = new URL(`http://127.0.0.1:${port}/`)
  const answer = await request({ url, agents, signal, silenceMs: 100 })
  await expect(textWithin(answer, 100)).rejects.toThrow('no response for 0.1 s')
})
