import { once } from 'node:events'
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { secureConnection, secureTable } from '../secure.ts'
import { closing, start as startStand } from '../lifetimes.ts'
import { HOST, HttpUpstream, type ProxyStand, RawUpstream, waitFor } from '../stand.ts'

async function start(...given: Parameters<typeof secureTable>): Promise<ProxyStand> {
  return startStand(secureTable(...given))
}

async function upstream(listener: Parameters<typeof HttpUpstream.start>[1]): Promise<HttpUpstream> {
  return closing(await HttpUpstream.start('app', listener))
}

async function raw(answer: Parameters<typeof RawUpstream.start>[0]): Promise<RawUpstream> {
  return closing(await RawUpstream.start(answer))
}

/** Answers what it was sent, and in `seen` how it was sent. */
function echo(): Promise<HttpUpstream> {
  return upstream((incoming, response) => {
    response.setHeader(
      'seen',
      JSON.stringify({ ...incoming.headers, method: incoming.method, url: incoming.url }),
    )
    incoming.pipe(response)
  })
}

async function dial(stand: ProxyStand): Promise<ClientHttp2Session> {
  const { port } = stand.client.bound.find(({ host }) => host === '127.0.0.2')!
  const session = connect(`https://127.0.0.2:${port}`, { servername: HOST, rejectUnauthorized: false })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  return session
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

function open(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const stream = session.request({ ':authority': HOST, ...headers })
  stream.on('error', () => {})
  return stream
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const [headers] = (await once(stream, 'response')) as [Record<string, string>]
  return { status: Number(headers[':status']), headers, body: await buffer(stream) }
}

/** Waits for the end of a stream, good or bad. */
function closed(stream: ClientHttp2Stream | ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}

async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Answer> {
  const stream = open(session, { ...(body === undefined ? {} : { ':method': 'POST' }), ...headers })
  stream.end(body)
  return answerOf(stream)
}

test('a request reaches the upstream as HTTP/1.1, and its answer comes back', async () => {
  const session = await dial(await start([(await echo()).spec]))
  const { status, headers } = await ask(session, {
    ':path': '/a?b=c',
    cookie: ['a=1', 'b=2'],
    accept: 'text/plain',
    'x-forwarded-for': '6.6.6.6',
    te: 'trailers',
  })
  expect(status).toBe(200)
  const seen = JSON.parse(headers.seen!)
  expect(seen).toMatchObject({
    method: 'GET',
    url: '/a?b=c',
    host: HOST,
    cookie: 'a=1; b=2',
    accept: 'text/plain',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
  })
  expect(seen.te).toBeUndefined()
  expect(headers['x-request-id']).toBe(seen['x-request-id'])
  for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'upgrade']) {
    expect(headers[name]).toBeUndefined()
  }
})

test('bodies of some megabytes pass both ways, with and without a known length', async () => {
  const session = await dial(await start([(await echo()).spec]))
  const body = Buffer.alloc(5_000_000, 'body ')
  for (const headers of [{}, { 'content-length': body.length }]) {
    const answer = await ask(session, headers, body)
    expect(answer.body.equals(body)).toBe(true)
    expect(JSON.parse(answer.headers.seen!)['content-length']).toBe(
      'content-length' in headers ? String(body.length) : undefined,
    )
  }
})

test('many requests of one connection are answered at a time, each with its own answer', async () => {
  let most = 0
  let now = 0
  const app = await upstream((incoming, response) => {
    most = Math.max(most, ++now)
    setTimeout(() => {
      now--
      response.end(incoming.url)
    }, 50)
  })
  const session = await dial(await start([app.spec]))
  const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
  const answers = await Promise.all(paths.map((path) => ask(session, { ':path': path })))
  expect(answers.map(({ body }) => body.toString())).toEqual(paths)
  expect(most).toBeGreaterThan(10)
})

test('HEAD, 204 and 304 have no body, and an answer without length ends with its connection', async () => {
  const app = await raw((socket, piece) => {
    const path = /^\S+ (\S+)/.exec(piece)?.[1]
    if (path === '/204') socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    else if (path === '/304')
      socket.write('HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 10\r\n\r\n')
    else if (path === '/head') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n')
    else socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end')
  })
  const session = await dial(await start([app.spec]))
  const head = await ask(session, { ':method': 'HEAD', ':path': '/head' })
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '10', 0])
  expect((await ask(session, { ':path': '/204' })).status).toBe(204)
  const notModified = await ask(session, { ':path': '/304' })
  expect([notModified.status, notModified.headers.etag, notModified.body.length]).toEqual([304, '"a"', 0])
  expect((await ask(session, { ':path': '/close' })).body.toString()).toBe('until the end')
})

test('chunks become frames, whatever their size', async () => {
  const app = await raw((socket, piece) => {
    if (!piece.includes('\r\n\r\n')) return
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n5\r\nhello\r\n')
    setTimeout(() => socket.write('1\r\n \r\n5;a=b\r\nworld\r\n0\r\nX-Sum: 1\r\n\r\n'), 30)
  })
  const session = await dial(await start([app.spec]))
  for (let time = 0; time < 2; time++) {
    const { body, headers } = await ask(session)
    expect(body.toString()).toBe('hello world')
    expect(headers['transfer-encoding']).toBeUndefined()
  }
})

test('if a service repeats a field with one value, it is sent once; other fields stay as they are', async () => {
  const app = await raw((socket) => {
    const fields = [
      'X-Content-Type-Options: nosniff',
      'X-Content-Type-Options: other',
      'Content-Type: text/plain',
    ]
    const more = ['Content-Type: text/html', 'Set-Cookie: a=1', 'Set-Cookie: b=\xe9', 'Content-Length: 2']
    socket.write(Buffer.from(['HTTP/1.1 200 OK', ...fields, ...more, '', 'ok'].join('\r\n'), 'latin1'))
  })
  const session = await dial(await start([app.spec]))
  const { headers, body } = await ask(session)
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['content-type']).toBe('text/plain')
  expect(headers['set-cookie']).toEqual(['a=1', 'b=\xe9'])
  expect(body.toString()).toBe('ok')
})

test('cookies that came in many parts are one field; more than a hundred fields are refused with 431', async () => {
  const session = await dial(await start([(await echo()).spec]))
  const crumbs = Array.from({ length: 150 }, (_, index) => `c${index}=1`)
  const { status, headers } = await ask(session, { cookie: [...crumbs.slice(0, 9), '', ...crumbs.slice(9)] })
  expect(status).toBe(200)
  expect(JSON.parse(headers.seen!).cookie).toBe(crumbs.join('; '))
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x-${index}`, '1']))
  expect((await ask(session, many)).status).toBe(431)
})

test('interim answers come before the final one', async () => {
  const app = await raw((socket, piece) => {
    if (piece.includes('\r\n\r\n'))
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      )
  })
  const session = await dial(await start([app.spec]))
  const stream = open(session)
  const interim: Record<string, unknown>[] = []
  stream.on('headers', (headers: Record<string, unknown>) => void interim.push(headers))
  expect((await answerOf(stream)).body.toString()).toBe('ok')
  expect(interim).toMatchObject([{ ':status': 103, link: '</a.css>; rel=preload, </b.js>' }])
})

test('a body that waits for 100 is sent when the upstream has said so', async () => {
  const app = await upstream((incoming, response) => void incoming.pipe(response))
  const session = await dial(await start([app.spec]))
  const stream = open(session, { ':method': 'POST', expect: '100-continue' })
  await once(stream, 'continue')
  stream.end('now')
  expect((await answerOf(stream)).body.toString()).toBe('now')
})

test('what HTTP/1.1 would refuse is refused, and the connection continues', async () => {
  const session = await dial(await start([(await echo()).spec]))
  expect((await ask(session, { ':authority': 'nobody.test' })).status).toBe(404)
  expect((await ask(session, { ':path': `/${'x'.repeat(9_000)}` })).status).toBe(414)
  expect((await ask(session, { ':method': 'TRACE' })).status).toBe(405)
  expect((await ask(session, { ':authority': 'app.test:80a' })).status).toBe(400)
  expect((await ask(session, { expect: 'miracles' })).status).toBe(417)
  const { status, headers } = await ask(session, { accept: 'application/json', ':authority': 'nobody.test' })
  expect([status, headers['content-type']]).toEqual([404, 'application/json'])
  expect((await ask(session)).status).toBe(200)
})

test('an invalid target ends only its request', async () => {
  const session = await dial(await start([(await echo()).spec]))
  const stream = open(session, { ':path': '/a b' })
  await closed(stream)
  expect(stream.rstCode).toBe(constants.NGHTTP2_PROTOCOL_ERROR)
  expect((await ask(session)).status).toBe(200)
})

test('a host that contradicts the authority, or a line hidden in a value, reaches no upstream', async () => {
  const app = await raw((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  const session = await dial(await start([app.spec]))
  expect((await ask(session, { host: 'other.test' })).status).toBe(400)
  expect(app.received).toBe('')
})

test('a head of too many bytes ends its request, not the server', async () => {
  const stand = await start([(await echo()).spec])
  const stream = open(await dial(stand), { 'x-long': 'x'.repeat(70_000) })
  let status = 0
  stream.on('response', (answer) => (status = Number(answer[':status'])))
  stream.resume()
  await closed(stream)
  expect(stream.rstCode !== 0 || status === 431).toBe(true)
  expect((await ask(await dial(stand))).status).toBe(200)
})

test('a request that its client cancels ends at the upstream, and counts as 499', async () => {
  let [begun, closed] = [0, 0]
  const app = await upstream((incoming) => {
    begun++
    incoming.socket.on('close', () => closed++)
  })
  const stand = await start([app.spec])
  const session = await dial(stand)
  const stream = open(session)
  stream.end()
  await expect.poll(() => begun).toBe(1)
  expect((await stand.client.counts()).open_requests).toBe(1)
  stream.close(constants.NGHTTP2_CANCEL)
  await expect.poll(() => closed).toBe(1)
  expect((await stand.client.counts()).targets['srv-app']).toMatchObject({ status_4xx: 1, status_2xx: 0 })
})

test('an upstream that dies in the middle of its answer gives a failed stream, not a short answer', async () => {
  const app = await raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    setTimeout(() => socket.destroy(), 50)
  })
  const session = await dial(await start([app.spec]))
  const stream = open(session)
  stream.resume()
  await closed(stream)
  expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
})

test('trailers pass both ways, announced or not', async () => {
  const app = await upstream((incoming, response) => {
    incoming.resume()
    incoming.on('end', () => {
      if (incoming.url === '/announced') response.setHeader('trailer', 'digest, server-timing')
      response.write('some ')
      response.addTrailers([
        ['Digest', incoming.trailers.digest ?? 'none'],
        ['Server-Timing', 'a'],
        ['Server-Timing', 'b'],
      ])
      response.end('body')
    })
  })
  const session = await dial(await start([app.spec]))
  for (const announced of [true, false, true]) {
    const stream = session.request(
      { ':authority': HOST, ':method': 'POST', ':path': announced ? '/announced' : '/silent' },
      { waitForTrailers: true },
    )
    stream.on('wantTrailers', () => stream.sendTrailers({ digest: 'sha-256=abc' }))
    let trailers: Record<string, unknown> = {}
    stream.on('trailers', (received) => (trailers = Object.fromEntries(Object.entries(received))))
    stream.end('question')
    const answer = await answerOf(stream)
    expect(answer.body.toString()).toBe('some body')
    expect(trailers).toEqual({ digest: 'sha-256=abc', 'server-timing': 'a, b' })
  }
})

test('a trailer that would have a meaning in a head is refused with its request', async () => {
  const app = await upstream((_incoming, response) => void response.end('ok'))
  const session = await dial(await start([app.spec]))
  const stream = session.request({ ':authority': HOST, ':method': 'POST' }, { waitForTrailers: true })
  stream.on('error', () => {})
  stream.on('wantTrailers', () => stream.sendTrailers({ authorization: 'Basic eDp4' }))
  stream.end('question')
  expect((await answerOf(stream)).status).toBe(400)
})

test('what follows a CONNECT request is not taken for the beginning of the next', async () => {
  const seen: string[] = []
  const app = await upstream((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    response.end('ok')
  })
  const session = await dial(await start([app.spec]))
  const tunnel = session.request({ ':method': 'CONNECT', ':authority': HOST, 'content-length': '5' })
  tunnel.on('error', () => {})
  tunnel.write('helloGET /prefix HTTP/1.1\r\nX: ')
  const [headers] = (await once(tunnel, 'response')) as [Record<string, string>]
  expect(Number(headers[':status'])).toBe(405)
  expect((await ask(session, { ':path': '/real' })).status).toBe(200)
  expect(seen).toEqual(['GET /real'])
})

test('a HEAD request that is cut does not reach the upstream as a complete one', async () => {
  const app = await raw(() => {})
  const session = await dial(await start([app.spec]))
  const head = { ':authority': HOST, ':method': 'HEAD', ':path': '/cut' }
  const stream = session.request(head, { endStream: false })
  stream.on('error', () => {})
  stream.write('abc')
  await waitFor(
    () => app.received.includes('3\r\nabc\r\n'),
    () => app.received,
  )
  session.destroy()
  await expect.poll(() => app.sockets.every((socket) => socket.readableEnded || socket.destroyed)).toBe(true)
  expect(app.received).not.toContain('\r\n0\r\n\r\n')
})

test('values keep every byte except the white space around them', async () => {
  const app = closing(
    await RawUpstream.answering('HTTP/1.1 200 OK', 'X-Name: \t Voil\xc3\xa0\t ', 'Content-Length: 0', '', ''),
  )
  const { headers } = await ask(await dial(await start([app.spec])))
  expect(headers['x-name']).toBe('Voil\xc3\xa0')
})

test('an answer that HTTP/2 cannot express is 502, one that has none of its body has none of its length', async () => {
  for (const [status, expected] of [
    ['600 Odd', 502],
    ['205 Reset Content', 205],
  ] as const) {
    const app = closing(await RawUpstream.answering(`HTTP/1.1 ${status}`, 'Content-Length: 5', '', 'hello'))
    const answer = await ask(await dial(await start([app.spec])))
    expect(answer.status).toBe(expected)
    if (expected === 205)
      expect([answer.headers['content-length'], answer.body.length]).toEqual([undefined, 0])
  }
})

test('a client that does not close its end is not waited for when its connection is over', async () => {
  const app = await upstream((_incoming, response) => void response.end('ok'))
  const stand = await start([app.spec])
  const { port } = stand.client.bound.find(({ host }) => host === '127.0.0.2')!
  const socket = await secureConnection(port, { ALPNProtocols: ['h2'], allowHalfOpen: true } as never)
  onTestFinished(() => void socket.destroy())
  // The preface, empty settings, and a GOAWAY: the server has nothing more to wait for (RFC 9113 3.4, 6.8).
  socket.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'))
  await expect.poll(async () => (await stand.client.counts()).open_connections).toBe(1)
  socket.write(Buffer.from('\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'))
  socket.pause()
  await expect.poll(async () => (await stand.client.counts()).open_connections, { timeout: 15_000 }).toBe(0)
})

test('an early answer ends the request, whose body need not be sent', async () => {
  const app = await raw((socket, piece) => {
    if (!piece.startsWith('POST')) return
    socket.end('HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig')
  })
  const session = await dial(await start([app.spec]))
  const stream = open(session, { ':method': 'POST' })
  stream.write('x'.repeat(1_000))
  const { status, body } = await answerOf(stream)
  expect([status, body.toString()]).toEqual([413, 'big'])
})

/** Waits until no more bytes are accepted; the kernel's buffers for loopback hold some megabytes. */
async function standsStill(bytes: () => number): Promise<void> {
  for (let before = -1; before !== bytes();) {
    before = bytes()
    expect(before).toBeLessThan(60_000_000)
    await sleep(500)
  }
}

test('a client that does not read slows its upstream down, and nothing else', async () => {
  let written = 0
  const app = await upstream((incoming, response) => {
    if (incoming.url !== '/endless') return void response.end('quick')
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      while (response.write(chunk)) written += chunk.length
      written += chunk.length
    }
    response.on('drain', more)
    more()
  })
  const session = await dial(await start([app.spec]))
  const stream = open(session, { ':path': '/endless' })
  await once(stream, 'response')
  await standsStill(() => written)
  expect((await ask(session, { ':path': '/quick' })).body.toString()).toBe('quick')
})

test('an upstream that does not read slows its client down', async () => {
  const app = await raw((socket) => void socket.pause())
  const session = await dial(await start([app.spec]))
  const stream = open(session, { ':method': 'POST' })
  let taken = 0
  const chunk = Buffer.alloc(64 * 1024)
  const more = (error?: Error | null): void => {
    if (error) return
    taken += chunk.length
    stream.write(chunk, more)
  }
  more()
  await standsStill(() => taken)
})

test('a client that opens and resets endless streams loses its connection', async () => {
  const app = await upstream((_incoming, response) => void response.end('ok'))
  const stand = await start([app.spec])
  const session = await dial(stand)
  let sent = 0
  const flood = setInterval(() => {
    for (let time = 0; time < 100 && !session.closed && !session.destroyed; time++) {
      sent++
      const stream = open(session)
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }, 1)
  await Promise.race([closed(session), sleep(20_000, undefined, { ref: false })])
  clearInterval(flood)
  expect(session.destroyed).toBe(true)
  expect(sent).toBeGreaterThan(100)
  expect((await ask(await dial(stand))).status).toBe(200)
})

test('a worker that retires finishes its requests and tells its clients to connect again', async () => {
  let finish = () => {}
  const app = await upstream((incoming, response) => {
    if (incoming.url === '/slow') finish = () => void response.end('late')
    else response.end('ok')
  })
  const table = secureTable([app.spec])
  const stand = await start([app.spec])
  const session = await dial(stand)
  const slow = open(session, { ':path': '/slow' })
  slow.end()
  await expect.poll(async () => (await stand.client.counts()).open_requests).toBe(1)
  const goaway = once(session, 'goaway')
  const listeners = [...table.listeners, { address: '127.0.0.3:0', protocol: 'http' as const }]
  await stand.client.applyTable({ ...table, version: 2, listeners })
  await goaway
  finish()
  expect((await answerOf(slow)).body.toString()).toBe('late')
  await closed(session)
  expect((await ask(await dial(stand))).status).toBe(200)
})
