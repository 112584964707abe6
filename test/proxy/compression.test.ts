import { once } from 'node:events'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import type { RequestListener, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { MAX_COMPRESSORS } from '../../proxy/compression/compressor.ts'
import { secureConnection, secureTable } from './secure.ts'
import { HOST, HttpUpstream, ProxyStand, type RawConnection, RawUpstream, waitFor } from './stand.ts'

const TEXT = 'The same words come again and again. '.repeat(200)
/** A host without a certificate, so that requests for it are answered without TLS. */
const PLAIN_HOST = 'plain.test'
const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }
/** More than everything that waits on the way to a client that does not read. */
const LARGE_BYTES = 64 * 1024 * 1024

let stand: ProxyStand
let upstream: HttpUpstream
let answer: RequestListener

beforeAll(async () => {
  upstream = await HttpUpstream.start('app', (request, response) => answer(request, response))
  stand = await ProxyStand.start(tableFor(upstream))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})
beforeEach(() => {
  answer = (_request, response) => plain(response)
})

function tableFor({ spec }: { spec: HttpUpstream['spec'] }, compression = true) {
  return secureTable([spec], {
    hosts: { [HOST]: 'app', [PLAIN_HOST]: 'app' },
    targets: { app: { id: 'srv-app', state: 'serving', upstreams: [spec], compression } },
  })
}

function plain(response: ServerResponse, headers: Record<string, string | string[]> = {}, body = TEXT): void {
  response.writeHead(200, {
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

/** An answer over HTTP/1.1: its head, and its body without chunks. */
async function ask(...lines: string[]): Promise<{ head: string; body: Buffer }> {
  const client = stand.raw()
  onTestFinished(() => client.close())
  return read(client.request('GET / HTTP/1.1', `Host: ${PLAIN_HOST}`, 'Connection: close', ...lines))
}

async function read(client: RawConnection): Promise<{ head: string; body: Buffer }> {
  const received = await client.end()
  const split = received.indexOf('\r\n\r\n') + 4
  const head = received.slice(0, split)
  const rest = received.slice(split)
  return {
    head,
    body: Buffer.from(/transfer-encoding: chunked/i.test(head) ? unchunked(rest) : rest, 'latin1'),
  }
}

/** The content of a chunked body; fails if it is not one. */
function unchunked(text: string): string {
  let content = ''
  for (;;) {
    const [line, size] = /^([0-9a-f]+)\r\n/.exec(text) ?? []
    if (line === undefined) throw new Error(`no chunk: ${JSON.stringify(text.slice(0, 50))}`)
    const length = parseInt(size!, 16)
    text = text.slice(line.length)
    if (length === 0) return content
    content += text.slice(0, length)
    expect(text.slice(length, length + 2)).toBe('\r\n')
    text = text.slice(length + 2)
  }
}

function securePort(): number {
  return stand.client.bound.find(({ host }) => host === '127.0.0.2')!.port
}

async function dial(): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.2:${securePort()}`, {
    servername: HOST,
    rejectUnauthorized: false,
  })
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  return session
}

async function askHttp2(
  session: ClientHttp2Session,
  fields: Record<string, string>,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const stream = session.request({ ':authority': HOST, ...fields })
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  return { headers, body: await buffer(stream) }
}

test("an answer is compressed with its client's preferred coding, over HTTP/1.1 and HTTP/2", async () => {
  const session = await dial()
  for (const [coding, decode] of Object.entries(DECODERS)) {
    const accept = `deflate, gzip;q=0.1, br;q=0.1, zstd;q=0.1, ${coding};q=0.9`
    const { head, body } = await ask(`Accept-Encoding: ${accept}`)
    expect(head).toMatch(new RegExp(`\\r\\nContent-Encoding: ${coding}\\r\\n`))
    expect(head).toMatch(/\r\nVary: Accept-Encoding\r\n/)
    expect(head).not.toMatch(/content-length/i)
    expect(body.length).toBeLessThan(TEXT.length / 10)
    expect(decode(body).toString()).toBe(TEXT)
    const over2 = await askHttp2(session, { 'accept-encoding': accept })
    expect(over2.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' })
    expect(over2.headers['content-length']).toBeUndefined()
    expect(decode(over2.body).toString()).toBe(TEXT)
  }
})

test('content of every length is complete, whether its length was announced or not', async () => {
  const session = await dial()
  for (const length of [1024, 1025, 16_384, 16_385, 65_536, 65_537, 300_000]) {
    const content = TEXT.repeat(Math.ceil(length / TEXT.length)).slice(0, length)
    for (const told of [true, false]) {
      answer = (_request, response) => {
        if (told) return plain(response, {}, content)
        response.writeHead(200, { 'content-type': 'text/plain' }).end(content)
      }
      for (const [coding, decode] of Object.entries(DECODERS)) {
        const { headers, body } = await askHttp2(session, { 'accept-encoding': coding })
        expect(headers['content-encoding']).toBe(coding)
        expect(decode(body).toString() === content, `${length} bytes in ${coding}`).toBe(true)
        expect(body.length).toBeLessThan(length / 2)
      }
    }
  }
})

test('a client that accepts no coding gets the answer as it is, and caches learn that others do', async () => {
  const accepts = [
    [],
    ['Accept-Encoding: identity'],
    ['Accept-Encoding: gzip;q=0, *;q=0'],
    ['Accept-Encoding: deflate'],
  ]
  for (const accept of accepts) {
    const { head, body } = await ask(...accept)
    expect(head).not.toMatch(/content-encoding/i)
    expect(head).toMatch(/\r\nVary: Accept-Encoding\r\n/)
    expect(head).toContain(`content-length: ${TEXT.length}\r\n`)
    expect(body.toString()).toBe(TEXT)
  }
})

test('a service without compression has its answers sent as they come', async () => {
  await stand.client.applyTable(tableFor(upstream, false))
  onTestFinished(() => stand.client.applyTable(tableFor(upstream)).then(() => {}))
  const { head, body } = await ask('Accept-Encoding: gzip')
  expect(head).not.toMatch(/content-encoding|vary/i)
  expect(body.toString()).toBe(TEXT)
})

test.each<[string, Record<string, string | string[]>]>([
  ['in a coding', { 'content-encoding': 'identity' }],
  ['with a cookie', { 'set-cookie': 'session=1' }],
  ['that may not be changed', { 'cache-control': 'public, no-transform' }],
  ['of a type that does not gain', { 'content-type': 'image/png' }],
  ['without a type', { 'content-type': '' }],
  ['with a digest of its bytes', { 'content-digest': 'sha-256=:AAAA:' }],
])('an answer %s is not compressed', async (_name, headers) => {
  answer = (_request, response) => plain(response, headers)
  const { head, body } = await ask('Accept-Encoding: gzip')
  expect(head).not.toMatch(/content-encoding: gzip|vary/i)
  expect(body.toString()).toBe(TEXT)
})

test('a small body, a part of one, and an empty one are not compressed', async () => {
  answer = (_request, response) => plain(response, {}, 'small')
  expect((await ask('Accept-Encoding: gzip')).body.toString()).toBe('small')
  answer = (_request, response) => {
    response.writeHead(206, { 'content-type': 'text/plain', 'content-range': `bytes 0-1999/${TEXT.length}` })
    response.end(TEXT.slice(0, 2000))
  }
  expect((await ask('Accept-Encoding: gzip', 'Range: bytes=0-1999')).body.toString()).toBe(
    TEXT.slice(0, 2000),
  )
  answer = (_request, response) => response.writeHead(204).end()
  expect((await ask('Accept-Encoding: gzip')).head).not.toMatch(/content-encoding|vary/i)
  answer = (_request, response) => plain(response)
  const head = await stand
    .raw()
    .request('HEAD / HTTP/1.1', `Host: ${PLAIN_HOST}`, 'Connection: close', 'Accept-Encoding: gzip')
    .end()
  expect(head).toContain(`content-length: ${TEXT.length}\r\n`)
  expect(head).not.toMatch(/content-encoding/i)
})

test('a client that says no-transform, or speaks HTTP/1.0, gets the answer as it is', async () => {
  const { head } = await ask('Accept-Encoding: gzip', 'Cache-Control: no-transform')
  expect(head).not.toMatch(/content-encoding/i)
  const old = await stand
    .raw()
    .request('GET / HTTP/1.0', `Host: ${PLAIN_HOST}`, 'Accept-Encoding: gzip')
    .end()
  expect(old).not.toMatch(/content-encoding|transfer-encoding/i)
  expect(old.endsWith(TEXT)).toBe(true)
})

test('a strong tag becomes a weak one, also in an answer that nothing has changed', async () => {
  answer = (request, response) => {
    if (request.headers['if-none-match']) response.writeHead(304, { etag: '"v1"' }).end()
    else plain(response, { etag: '"v1"', 'accept-ranges': 'bytes', vary: 'Cookie' })
  }
  const { head } = await ask('Accept-Encoding: gzip')
  expect(head).toContain('ETag: W/"v1"\r\n')
  expect(head).toMatch(/\r\nvary: Cookie\r\n[^]*\r\nVary: Accept-Encoding\r\n/)
  expect(head).not.toMatch(/accept-ranges/i)
  const same = await ask('Accept-Encoding: gzip', 'If-None-Match: W/"v1"')
  expect(same.head).toMatch(/^HTTP\/1\.1 304 /)
  expect(same.head).toContain('ETag: W/"v1"\r\n')
  answer = (_request, response) => plain(response, { etag: 'W/"v2"', vary: 'accept-encoding, cookie' })
  const weak = await ask('Accept-Encoding: gzip')
  expect(weak.head).toContain('etag: W/"v2"\r\n')
  expect(weak.head.match(/^vary/gim)).toHaveLength(1)
})

test('events arrive as they happen', async () => {
  let next = () => {}
  answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let count = 0
    next = () => void response.write(`data: ${++count}\n\n`)
    next()
  }
  const session = await dial()
  const stream = session.request({ ':authority': HOST, 'accept-encoding': 'gzip' })
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  expect(headers['content-encoding']).toBe('gzip')
  let seen = ''
  const unpacked = createGunzip().on('error', () => {})
  stream.pipe(unpacked).on('data', (piece: Buffer) => (seen += piece.toString()))
  for (let count = 1; count <= 5; count++) {
    await waitFor(
      () => seen.endsWith(`data: ${count}\n\n`),
      () => `after event ${count}: ${seen}`,
    )
    next()
  }
})

test.each([
  ['at once', TEXT],
  ['in pieces', TEXT.repeat(10)],
])('chunks and trailers that come %s are complete', async (_, content) => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', trailer: 'x-sum' })
    for (let piece = 0; piece < content.length; piece += 500)
      response.write(content.slice(piece, piece + 500))
    response.addTrailers({ 'X-Sum': '42' })
    response.end()
  }
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${PLAIN_HOST}`, 'Accept-Encoding: gzip')
  onTestFinished(() => client.close())
  const received = await client.until(/\r\n0\r\nx-sum: 42\r\n\r\n$/)
  const start = received.indexOf('\r\n\r\n') + 4
  const body = Buffer.from(unchunked(received.slice(start)), 'latin1')
  expect(gunzipSync(body).toString() === content).toBe(true)
  const stream = (await dial()).request({ ':authority': HOST, 'accept-encoding': 'gzip' })
  const trailers = once(stream, 'trailers')
  expect(gunzipSync(await buffer(stream)).toString() === content).toBe(true)
  expect((await trailers)[0]).toMatchObject({ 'x-sum': '42' })
  // The connection continues.
  answer = (_request, response) => plain(response, {}, 'next')
  client.request('GET / HTTP/1.1', `Host: ${PLAIN_HOST}`)
  await client.until(/next$/)
})

test('an answer that ends with its connection is complete', async () => {
  const raw = await RawUpstream.start((socket) => {
    socket.end(`HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n${TEXT}`)
  })
  onTestFinished(() => raw.close())
  await stand.client.applyTable(tableFor(raw))
  onTestFinished(() => stand.client.applyTable(tableFor(upstream)).then(() => {}))
  const { head, body } = await ask('Accept-Encoding: br')
  expect(head).toMatch(/content-encoding: br/i)
  expect(brotliDecompressSync(body).toString()).toBe(TEXT)
})

test('a cut answer is not taken for a complete one', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100000' })
    response.write(TEXT, () => setTimeout(() => response.socket!.resetAndDestroy(), 50))
  }
  const session = await dial()
  for (const coding of Object.keys(DECODERS)) {
    const client = stand.raw().request('GET / HTTP/1.1', `Host: ${PLAIN_HOST}`, `Accept-Encoding: ${coding}`)
    expect(await client.end()).not.toMatch(/\r\n0\r\n\r\n$/)
    const stream = session.request({ ':authority': HOST, 'accept-encoding': coding })
    await expect(buffer(stream)).rejects.toThrow(/closed with error code/)
  }
})

test('a client that does not read slows its upstream down, and gets all of it when it reads again', async () => {
  let written = 0
  answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    // Content that no coding makes much smaller.
    const piece = Buffer.alloc(64 * 1024)
    const write = () => {
      while (written < LARGE_BYTES) {
        for (let at = 0; at < piece.length; at += 4) piece.writeUInt32LE(Math.random() * 2 ** 32, at)
        written += piece.length
        if (!response.write(Buffer.from(piece))) return void response.once('drain', write)
      }
      response.end()
    }
    write()
  }
  const client = stand.raw().request('GET / HTTP/1.1', `Host: ${PLAIN_HOST}`, 'Accept-Encoding: gzip')
  onTestFinished(() => client.close())
  await client.until('\r\n\r\n')
  client.socket.pause()
  let before = -1
  while (before !== written) {
    before = written
    await sleep(300)
  }
  expect(written).toBeLessThan(LARGE_BYTES)
  let last = ''
  client.socket.removeAllListeners('data').on('data', (text: string) => (last = (last + text).slice(-5)))
  client.socket.resume()
  await waitFor(
    () => last === '0\r\n\r\n',
    () => `the end did not come, ${written} bytes were written`,
  )
  expect(written).toBe(LARGE_BYTES)
})

test('answers above the number that are compressed at a time are sent uncompressed', async () => {
  const open: ServerResponse[] = []
  answer = (request, response) => {
    if (request.url !== '/') return plain(response)
    response.writeHead(200, { 'content-type': 'text/plain' }).write('first')
    open.push(response)
  }
  const session = await dial()
  const streams = Array.from({ length: MAX_COMPRESSORS }, () =>
    session.request({ ':authority': HOST, 'accept-encoding': 'gzip' }),
  )
  const heads = (await Promise.all(streams.map((stream) => once(stream, 'response')))) as [
    IncomingHttpHeaders,
  ][]
  for (const [headers] of heads) expect(headers['content-encoding']).toBe('gzip')
  const above = await askHttp2(session, { ':path': '/above', 'accept-encoding': 'gzip' })
  expect(above.headers['content-encoding']).toBeUndefined()
  expect(above.headers['vary']).toBe('Accept-Encoding')
  expect(above.body.toString()).toBe(TEXT)
  // A canceled one frees its place.
  streams[0]!.on('error', () => {}).destroy()
  await waitFor(
    () => open.some(({ destroyed, closed }) => destroyed || closed),
    () => 'the upstream does not hear of it',
  )
  const again = () => askHttp2(session, { ':path': '/above', 'accept-encoding': 'gzip' })
  await expect.poll(async () => (await again()).headers['content-encoding']).toBe('gzip')
})

test.each<[string, (response: ServerResponse) => void]>([
  ['nothing', (response) => response.flushHeaders()],
  ['a piece', (response) => void response.write('first')],
  ['all', (response) => void response.end(TEXT)],
])(
  'answers that are canceled or done free their places when %s of their bodies had come',
  async (_, send) => {
    answer = (request, response) => {
      if (request.url !== '/') return plain(response)
      send(response.writeHead(200, { 'content-type': 'text/plain' }))
    }
    const session = await dial()
    const streams = Array.from({ length: MAX_COMPRESSORS }, () =>
      session.request({ ':authority': HOST, 'accept-encoding': 'gzip' }),
    )
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    for (const stream of streams) stream.on('error', () => {}).destroy()
    const next = () => askHttp2(session, { ':path': '/next', 'accept-encoding': 'gzip' })
    await expect.poll(async () => (await next()).headers['content-encoding']).toBe('gzip')
  },
)

test('an answer that comes with an early one before it is complete', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'
  const body = TEXT.repeat(200)
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`
  const raw = await RawUpstream.start((socket) => void socket.write(early + head + body))
  onTestFinished(() => raw.close())
  await stand.client.applyTable(tableFor(raw))
  onTestFinished(() => stand.client.applyTable(tableFor(upstream)).then(() => {}))
  const socket = await secureConnection(securePort())
  socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`)
  const received = (await buffer(socket)).toString('latin1')
  const content = received.slice(received.indexOf('\r\n\r\n', received.indexOf('200 OK')) + 4)
  expect(gunzipSync(Buffer.from(unchunked(content), 'latin1')).toString()).toBe(body)
})
