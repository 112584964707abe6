import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HOST, HttpUpstream, RawUpstream, statusOf, tableOf, waitFor } from '../stand.ts'
import { answering, stand, use } from './relay-stand.ts'

test.each([
  ['a length', 'Content-Length: 100'],
  ['the end of its connection', 'Connection: close'],
])('an answer by %s that is cut is cut for the client too', async (_what, framing) => {
  await use(
    await RawUpstream.start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\nhalf`)
      setTimeout(() => socket.resetAndDestroy(), 50)
    }),
  )
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  await client.end()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(client.failed?.message).toContain('ECONNRESET')
})

test('an early 413 is readable although the client still sends', async () => {
  await use(
    await RawUpstream.start((socket, _piece, all) => {
      if (all.includes('\r\n\r\n'))
        socket.end('HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig')
    }),
  )
  const client = stand.raw().request('POST / HTTP/1.1', `Host: ${HOST}`, 'Content-Length: 10000000')
  const timer = setInterval(() => client.socket.writable && client.socket.write(Buffer.alloc(1000)), 5)
  const received = await client.end()
  clearInterval(timer)
  expect(statusOf(received)).toBe(413)
  expect(received).toMatch(/big$/)
  client.close()
})

test('an upgrade that the upstream was not asked for is 502', async () => {
  await answering('HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', '', '')
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  expect(statusOf(await client.until('</html>'))).toBe(502)
  client.close()
})

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  [
    'length and chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a folded field', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\n\r\n'],
  ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
  ['a bad first chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}`],
])('an upstream that answers with %s is 502', async (_name, bytes) => {
  await answering(bytes)
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Accept: application/json')
  const received = await client.until('}}')
  expect(statusOf(received)).toBe(502)
  expect(received).toContain('"code":"bad_gateway"')
  client.close()
})

test('bytes after an answer end the upstream connection instead of reaching the next client', async () => {
  const upstream = await answering(
    'HTTP/1.1 200 OK',
    'Content-Length: 2',
    '',
    'okHTTP/1.1 200 OK',
    'Content-Length: 4',
    '',
    'evil',
  )
  for (let round = 0; round < 3; round++) {
    const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
    expect(await client.end()).toMatch(/\r\n\r\nok$/)
  }
  expect(upstream.sockets).toHaveLength(3)
})

test.each([
  ['GET', `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, 200],
  ['POST', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\n\r\nbody`, 502],
])(
  'what is said before a reset on an idle connection is not an answer to a %s of the same moment',
  async (_method, request, status) => {
    const upstream = await answering('HTTP/1.1 200 OK', 'Content-Length: 4', '', 'good')
    const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
    await client.until('good')
    client.received = ''
    const { workers } = await stand.processes()
    for (const pid of workers) process.kill(pid, 'SIGSTOP')
    try {
      await waitFor(
        () => workers.every((pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') T ')),
        () => 'no stop',
      )
      await new Promise((resolve) => client.socket.write(request, resolve))
      const idle = upstream.sockets.at(-1)!
      await new Promise((resolve) => idle.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil', resolve))
      idle.resetAndDestroy()
      await once(idle, 'close')
    } finally {
      for (const pid of workers) process.kill(pid, 'SIGCONT')
    }
    const answer = await client.until(/\r\n\r\n[^]/)
    expect(statusOf(answer)).toBe(status)
    expect(answer).not.toContain('evil')
    client.close()
  },
)

test('an idempotent request is sent again if its reused connection dies, another is not', async () => {
  let requests = 0
  const upstream = await use(
    await RawUpstream.start((socket, piece) => {
      if (!piece.includes('\r\n\r\n')) return
      requests++
      if (requests % 2 === 0) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }),
  )
  const get = () => stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
  expect(statusOf(await get())).toBe(200)
  expect(statusOf(await get())).toBe(200)
  expect(upstream.requestLines).toHaveLength(3)
  const post = stand
    .raw()
    .request('POST / HTTP/1.1', `Host: ${HOST}`, 'Content-Length: 0', 'Connection: close')
  expect(statusOf(await post.end())).toBe(502)
  expect(upstream.requestLines).toHaveLength(4)
})

test('a request whose reused connection dies is not sent to an instance that is known to be dead', async () => {
  const dead = await RawUpstream.start(() => {})
  const { spec } = dead
  dead.close()
  const answered = new WeakSet<object>()
  const alive = await use(
    await RawUpstream.start((socket, piece) => {
      if (!piece.includes('\r\n\r\n')) return
      if (answered.has(socket)) return void socket.destroy()
      answered.add(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }),
  )
  await stand.client.applyTable(tableOf([spec, alive.spec]))
  const send = (method: string) =>
    stand
      .raw()
      .request(`${method} / HTTP/1.1`, `Host: ${HOST}`, 'Content-Length: 0', 'Connection: close')
      .end()
  // A request that may not be sent again finds the dead one without leaving a kept connection.
  for (let round = 0; round < 4; round++) await send('POST')
  for (const method of ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'GET'])
    expect([method, statusOf(await send(method))]).toEqual([method, 200])
})

test('a request whose instance refuses the connection is served by another, body included', async () => {
  const dead = await RawUpstream.start(() => {})
  const { spec } = dead
  dead.close()
  const alive = await use(await HttpUpstream.start('alive', (request, response) => request.pipe(response)))
  await stand.client.applyTable(tableOf([spec, alive.spec]))
  for (let round = 0; round < 6; round++) {
    const client = stand.raw()
    client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 7\r\nConnection: close\r\n\r\npayload`)
    const received = await client.end()
    expect(statusOf(received)).toBe(200)
    expect(received).toContain('payload')
  }
})

test('a target whose only instance refuses is 502, and so is one without an instance', async () => {
  const dead = await RawUpstream.start(() => {})
  const { spec } = dead
  dead.close()
  for (const table of [tableOf([spec]), tableOf([])]) {
    await stand.client.applyTable(table)
    const before = (await stand.client.counts()).targets['srv-app']?.status_5xx ?? 0
    const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
    expect(statusOf(await client.end())).toBe(502)
    expect((await stand.client.counts()).targets['srv-app']!.status_5xx).toBe(before + 1)
  }
})

test('an upstream that does not answer in time is 504', async () => {
  const silent = await use(await RawUpstream.start(() => {}))
  await stand.client.applyTable(tableOf([silent.spec], { upstream_timeout_ms: 300 }))
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Accept: application/json')
  const received = await client.until('gateway_timeout')
  expect(statusOf(received)).toBe(504)
  client.close()
})

test('a client that leaves is counted as 499 and its upstream connection is closed', async () => {
  const silent = await use(await RawUpstream.start(() => {}))
  const before = (await stand.client.counts()).targets['srv-app']!
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  await expect.poll(() => silent.received).toContain('\r\n\r\n')
  client.socket.resetAndDestroy()
  await expect.poll(() => silent.sockets[0]!.destroyed).toBe(true)
  const after = (await stand.client.counts()).targets['srv-app']!
  expect(after.status_4xx).toBe(before.status_4xx + 1)
  expect(after.latency_buckets.reduce((sum, count) => sum + count, 0)).toBe(
    before.latency_buckets.reduce((sum, count) => sum + count, 0),
  )
})
