import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { DASHBOARD_TARGET } from '#proxy/protocol.ts'
import { HOST, HttpUpstream, RawUpstream, statusOf, tableOf } from '../stand.ts'
import { answering, stand, use } from './relay-stand.ts'

test('a request reaches the upstream of its host with the forwarding fields set, and the answer comes back', async () => {
  const upstream = await answering('HTTP/1.1 200 OK', 'Content-Length: 2', 'X-A: 1', '', 'hi')
  const client = stand
    .raw()
    .request('GET /path?q=1 HTTP/1.1', `Host: ${HOST}`, 'X-B:2', 'Connection: x-b, close', 'X-B: 3')
  const answer = await client.end()
  expect(answer).toMatch(
    /^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-Request-Id: [0-9a-f]{32}\r\nConnection: close\r\n\r\nhi$/,
  )
  expect(upstream.received).toMatch(
    new RegExp(
      '^GET /path\\?q=1 HTTP/1\\.1\\r\\nHost: app\\.test\\r\\nX-Forwarded-For: 127\\.0\\.0\\.1\\r\\nX-Real-IP: 127\\.0\\.0\\.1\\r\\n' +
        `X-Forwarded-Proto: http\\r\\nX-Forwarded-Port: ${stand.port}\\r\\nX-Forwarded-Host: app\\.test\\r\\n` +
        'X-Request-Id: [0-9a-f]{32}\\r\\n\\r\\n$',
    ),
  )
})

test('forged forwarding fields and hop-by-hop fields do not reach the upstream', async () => {
  const upstream = await answering('HTTP/1.1 200 OK', 'Content-Length: 0', '', '')
  const client = stand
    .raw()
    .request(
      'GET / HTTP/1.1',
      `Host: ${HOST}`,
      'X-Forwarded-For: 6.6.6.6',
      'X_Forwarded_For: 6.6.6.6',
      'X-Forwarded-Prefix: /evil',
      'Forwarded: for=6.6.6.6',
      'X-Real-Ip: 6.6.6.6',
      'x_real_ip: 6.6.6.6',
      'Keep-Alive: timeout=6',
      'Proxy-Connection: keep-alive',
      'TE: trailers',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      'Connection: Upgrade, HTTP2-Settings, close',
      'X-Request-Id: abc.DEF-1_2',
    )
  expect(await client.end()).toContain('X-Request-Id: abc.DEF-1_2')
  expect(upstream.received).not.toMatch(/6\.6\.6\.6|evil|timeout=6|trailers|h2c|Settings|upgrade/i)
  expect(upstream.received).toContain('X-Request-Id: abc.DEF-1_2\r\n')
})

test("a service under the dashboard's name sees the browser's cookies, except what signs in to the dashboard", async () => {
  const upstream = await answering('HTTP/1.1 200 OK', 'Content-Length: 0', '', '')
  const secret = 'a1b2'.repeat(16)
  const client = stand
    .raw()
    .request(
      'GET / HTTP/1.1',
      `Host: ${HOST}`,
      `Cookie: a=1; deployer_session_7878=${secret}; deployer_session_443=${secret};b=2; x_deployer_session_y=own; v="deployer_session_a=own"`,
      'X-A: deployer_session_1=kept',
      `cOOKIE:deployer_session_80=${secret}`,
      `Cookie: deployer_session_deployer_session_8080=${secret}=deployer_session_${secret};`,
      'Connection: close',
    )
  await client.end()
  expect(upstream.received).not.toContain(secret)
  const hidden = '*'.repeat(secret.length)
  expect(upstream.received).toContain(
    `Cookie: a=1; deployer_session_7878=${hidden}; deployer_session_443=${hidden};b=2; x_deployer_session_y=own; v="deployer_session_a=own"\r\nX-A: deployer_session_1=kept\r\n`,
  )
})

test('the dashboard gets its session', async () => {
  const upstream = await use(await RawUpstream.answering('HTTP/1.1 200 OK', 'Content-Length: 0', '', ''))
  const table = tableOf([upstream.spec])
  for (const target of Object.values(table.targets)) target.id = DASHBOARD_TARGET
  await stand.client.applyTable(table)
  const client = stand
    .raw()
    .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Cookie: deployer_session_80=a1b2', 'Connection: close')
  await client.end()
  expect(upstream.received).toContain('Cookie: deployer_session_80=a1b2\r\n')
})

test('a kept-alive connection serves request after request over one upstream connection', async () => {
  const upstream = await answering('HTTP/1.1 200 OK', 'Content-Length: 2', '', 'ok')
  const client = stand.raw()
  for (let round = 1; round <= 5; round++) {
    client.request(`GET /${round} HTTP/1.1`, `Host: ${HOST}`)
    await client.until(new RegExp(`(?:ok[^]*){${round}}`))
  }
  client.close()
  expect(upstream.requestLines).toHaveLength(5)
  expect(upstream.sockets).toHaveLength(1)
})

test('pipelined requests are answered in order, those for unknown hosts in between', async () => {
  await use(
    await HttpUpstream.start(
      'echo',
      (request, response) => void setTimeout(() => response.end(`<${request.url}>`), 20),
    ),
  )
  const client = stand.raw()
  const known = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  client.send(
    known('/1') +
      known('/2') +
      'GET /none HTTP/1.1\r\nHost: nobody.test\r\nAccept: application/json\r\n\r\n' +
      known('/3'),
  )
  const received = await client.until('</3>')
  expect([...received.matchAll(/<\/\d>|"code":"\w+"/g)].map(String)).toEqual([
    '</1>',
    '</2>',
    '"code":"not_found"',
    '</3>',
  ])
  client.close()
})

test('many pipelined requests followed by FIN are all answered', async () => {
  await use(await HttpUpstream.start('echo', (request, response) => response.end(`<${request.url}>`)))
  const client = stand.raw()
  client.send(
    Array.from({ length: 50 }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`).join(''),
  )
  client.socket.end()
  expect((await client.end()).match(/<\/\d+>/g)).toHaveLength(50)
})

test('bodies by length and in chunks arrive completely in both directions', async () => {
  await use(
    await HttpUpstream.start('echo', (request, response) => {
      const { 'content-length': length } = request.headers
      if (length) response.setHeader('content-length', length)
      request.pipe(response)
    }),
  )
  const body = Buffer.alloc(3_000_000, 'abcdefghij').toString()
  const url = `http://127.0.0.1:${stand.port}/`
  const headers = { host: HOST }
  const whole = await send(url, headers, body, false)
  expect(whole === body).toBe(true)
  const chunked = await send(url, headers, body, true)
  expect(chunked === body).toBe(true)
})

async function send(
  url: string,
  headers: Record<string, string>,
  body: string,
  chunked: boolean,
): Promise<string> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: chunked ? headers : { ...headers, 'content-length': body.length },
    }
    const outgoing = request(url, options, (response) => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    for (let at = 0; at < body.length; at += 100_000) outgoing.write(body.slice(at, at + 100_000))
    outgoing.end()
  })
}

test('answers to HEAD, 204 and 304 have no body and the connection continues', async () => {
  await use(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('HEAD')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n')
      else if (piece.startsWith('GET /204'))
        socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n')
      else if (piece.startsWith('GET /304'))
        socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n')
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast')
    }),
  )
  const client = stand.raw()
  const lines = ['HEAD /', 'GET /204', 'GET /304', 'GET /']
  client.send(lines.map((line) => `${line} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`).join(''))
  const received = await client.until('last')
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual([
    '200',
    '204',
    '304',
    '200',
  ])
  client.close()
})

test('a 100 Continue of the upstream reaches the client that waits for it', async () => {
  await use(
    await RawUpstream.start((socket, piece, all) => {
      if (all.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 100 Continue\r\n\r\n')
      if (piece === 'body') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone')
    }),
  )
  const client = stand
    .raw()
    .request('POST / HTTP/1.1', `Host: ${HOST}`, 'Content-Length: 4', 'Expect: 100-continue')
  await client.until('HTTP/1.1 100 Continue\r\n\r\n')
  client.send('body')
  expect(await client.until('done')).toContain('HTTP/1.1 200 OK')
  client.close()
})

test('103 Early Hints and trailers pass', async () => {
  await answering(
    'HTTP/1.1 103 Early Hints',
    'Link: </a.css>; rel=preload',
    '',
    'HTTP/1.1 200 OK',
    'Transfer-Encoding: chunked',
    'Trailer: X-Sum',
    '',
    '3',
    'abc',
    '0',
    'X-Sum: 1',
    '',
    '',
  )
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  const received = await client.until('X-Sum: 1\r\n\r\n')
  expect(received).toContain('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n')
  client.close()
})

test('an HTTP/1.0 client gets the data of a chunked answer without chunks, then the end', async () => {
  await answering(
    'HTTP/1.1 200 OK',
    'Transfer-Encoding: chunked',
    '',
    '5',
    'hello',
    '6;x=y',
    ' world',
    '0',
    '',
    '',
  )
  const client = stand.raw().request('GET / HTTP/1.0', `Host: ${HOST}`)
  const received = await client.end()
  expect(received).not.toMatch(/transfer-encoding/i)
  expect(received).toMatch(/Connection: close\r\n\r\nhello world$/)
})

test.each([
  ['HEAD', 'HTTP/1.1 200 OK'],
  ['GET', 'HTTP/1.1 304 Not Modified'],
])('an HTTP/1.0 client gets no chunks in an answer without a body, either: %s, %s', async (method, line) => {
  await answering(line, 'Transfer-Encoding: chunked', 'ETag: "a"', '', '')
  const received = await stand.raw().request(`${method} / HTTP/1.0`, `Host: ${HOST}`).end()
  expect(received.split('\r\n').slice(0, 2)).toEqual([line, 'ETag: "a"'])
})

test('an answer that ends with its connection is passed on the same way', async () => {
  await use(
    await RawUpstream.start((socket) => {
      socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end')
    }),
  )
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  expect(await client.end()).toMatch(/^HTTP\/1\.1 200 OK[^]*Connection: close\r\n\r\nuntil the end$/)
})

test('a half-closed client still gets its answer', async () => {
  await use(
    await HttpUpstream.start(
      'slow',
      (_request, response) => void setTimeout(() => response.end('late'), 100),
    ),
  )
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  client.socket.end()
  expect(await client.end()).toMatch(/late/)
})

test('a client that ends in the body of a later request gets the answers before it, and is not waited for', async () => {
  const upstream = await use(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1')
    }),
  )
  for (const target of [HOST, 'nobody.test']) {
    const client = stand
      .raw()
      .request('GET /1 HTTP/1.1', `Host: ${HOST}`)
      .request('POST /2 HTTP/1.1', `Host: ${target}`, 'Content-Length: 42')
    client.socket.end('half')
    expect(statusOf(await client.end())).toBe(200)
  }
  await expect.poll(async () => (await stand.client.counts()).open_requests).toBe(0)
  expect(upstream.received.match(/GET \/1/g)).toHaveLength(2)
})

test('a slow reader slows its upstream down and gets every byte', async () => {
  const pieces = 400
  const piece = Buffer.alloc(100_000, 'x')
  let written = 0
  await use(
    await HttpUpstream.start('bulk', (_request, response) => {
      const source = Readable.from(
        (function* () {
          for (written = 0; written < pieces; written++) yield piece
        })(),
      )
      response.setHeader('content-length', pieces * piece.length)
      source.pipe(response)
    }),
  )
  const client = stand.raw()
  let length = 0
  client.socket.removeAllListeners('data')
  client.socket.pause()
  client.request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
  await expect.poll(() => written).toBeGreaterThan(0)
  for (let before = -1; before !== written;) {
    before = written
    await sleep(500)
  }
  expect(written).toBeLessThan(pieces * 0.75)
  client.socket.on('data', (text: string) => (length += text.length))
  client.socket.resume()
  await client.end()
  expect(length).toBeGreaterThan(pieces * piece.length)
})

test('a WebSocket passes bytes both ways until either side ends it', async () => {
  await use(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET')) {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello',
        )
      } else socket.write(`echo ${piece}`)
    }),
  )
  const before = (await stand.client.counts()).targets['srv-app']!
  const client = stand
    .raw()
    .request('GET /ws HTTP/1.1', `Host: ${HOST}`, 'Connection: keep-alive, Upgrade', 'Upgrade: websocket')
  const head = await client.until('hello')
  expect(head).toMatch(
    /^HTTP\/1\.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nX-Request-Id: \w+\r\n\r\nhello$/,
  )
  client.send('one')
  await client.until('echo one')
  const after = (await stand.client.counts()).targets['srv-app']!
  // A WebSocket lasts; its beginning would say nothing about how fast requests are answered.
  expect(after).toEqual({ ...before, status_2xx: before.status_2xx + 1 })
  client.socket.end()
  await client.end()
})
