import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HOST, ProxyStand, RawUpstream, statusOf, tableOf } from './stand.ts'

let stand: ProxyStand
let upstream: RawUpstream

beforeAll(async () => {
  upstream = await RawUpstream.start((socket, _piece, all) => {
    const headEnd = all.indexOf('\r\n\r\n')
    if (headEnd < 0 || (all.includes('chunked') && all.indexOf('\r\n\r\n', headEnd + 4) < 0)) return false
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    return true
  })
  stand = await ProxyStand.start(tableOf([upstream.spec]))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})
beforeEach(() => {
  upstream.received = ''
})

const GET = 'GET / HTTP/1.1'
const POST = 'POST / HTTP/1.1'
const H = `Host: ${HOST}`
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: app.test\r\n\r\n'

/** Refused before anything is sent on: status, and the bytes that a client sends. */
const MALFORMED: [string, number, string][] = [
  [
    'length and chunks (CL.TE)',
    400,
    `${POST}\r\n${H}\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG${SMUGGLED}`,
  ],
  [
    'chunks and length (TE.CL)',
    400,
    `${POST}\r\n${H}\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${SMUGGLED}`,
  ],
  ['two lengths', 400, `${POST}\r\n${H}\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n${SMUGGLED}`],
  ['two equal lengths', 400, `${POST}\r\n${H}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab`],
  ['a list of lengths', 400, `${POST}\r\n${H}\r\nContent-Length: 0, 44\r\n\r\n${SMUGGLED}`],
  ['a length with a sign', 400, `${POST}\r\n${H}\r\nContent-Length: +4\r\n\r\nabcd`],
  ['a negative length', 400, `${POST}\r\n${H}\r\nContent-Length: -1\r\n\r\n`],
  ['a hexadecimal length', 400, `${POST}\r\n${H}\r\nContent-Length: 0x4\r\n\r\nabcd`],
  ['an empty length', 400, `${POST}\r\n${H}\r\nContent-Length:\r\n\r\n`],
  ['a length beyond all numbers', 400, `${POST}\r\n${H}\r\nContent-Length: 99999999999999999999\r\n\r\n`],
  ['an unknown coding', 501, `${POST}\r\n${H}\r\nTransfer-Encoding: gzip\r\n\r\n`],
  ['a list of codings', 501, `${POST}\r\n${H}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['xchunked', 501, `${POST}\r\n${H}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['chunked with a vertical tab', 400, `${POST}\r\n${H}\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  [
    'chunked twice',
    400,
    `${POST}\r\n${H}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'chunked and identity',
    400,
    `${POST}\r\n${H}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  ],
  ['chunks in HTTP/1.0', 400, `POST / HTTP/1.0\r\n${H}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a space before the colon', 400, `${POST}\r\n${H}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['a folded field', 400, `${POST}\r\n${H}\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a folded first field', 400, `${GET}\r\n X: y\r\n${H}\r\n\r\n`],
  ['a bare LF after a field', 400, `${GET}\r\n${H}\nX: y\r\n\r\n`],
  ['a bare LF after the request line', 400, `${GET}\n${H}\r\n\r\n`],
  ['nothing but bare LFs', 400, `${GET}\n${H}\n\n`],
  ['a bare CR in a value', 400, `${GET}\r\n${H}\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n`],
  ['a NUL in a value', 400, `${GET}\r\n${H}\r\nX: a\0b\r\n\r\n`],
  ['a NUL in a name', 400, `${GET}\r\n${H}\r\nX\0: ab\r\n\r\n`],
  ['a field without a colon', 400, `${GET}\r\n${H}\r\nnonsense\r\n\r\n`],
  ['an empty name', 400, `${GET}\r\n${H}\r\n: x\r\n\r\n`],
  ['no Host', 400, `${GET}\r\n\r\n`],
  ['no Host in HTTP/1.0', 400, 'GET / HTTP/1.0\r\n\r\n'],
  ['an empty Host', 400, `${GET}\r\nHost:\r\n\r\n`],
  ['two Hosts', 400, `${GET}\r\n${H}\r\n${H}\r\n\r\n`],
  ['a port that is no number', 400, `${GET}\r\nHost: ${HOST}:80a\r\n\r\n`],
  ['a port too high', 400, `${GET}\r\nHost: ${HOST}:65536\r\n\r\n`],
  ['user information in Host', 400, `${GET}\r\nHost: x@${HOST}\r\n\r\n`],
  ['a path in Host', 400, `${GET}\r\nHost: ${HOST}/x\r\n\r\n`],
  ['a list of Hosts', 400, `${GET}\r\nHost: ${HOST}, evil.test\r\n\r\n`],
  ['an absolute target of another host', 400, `GET http://evil.test/ HTTP/1.1\r\n${H}\r\n\r\n`],
  ['an absolute target whose host is longer', 400, `GET http://${HOST}.evil.test/ HTTP/1.1\r\n${H}\r\n\r\n`],
  ['an absolute target with user information', 400, `GET http://x@${HOST}/ HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a relative target', 400, `GET x HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a star for GET', 400, `GET * HTTP/1.1\r\n${H}\r\n\r\n`],
  ['two spaces in the request line', 400, `GET  / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a tab in the request line', 400, `GET\t/ HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a space in the target', 400, `GET /a b HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a space after the version', 400, `GET / HTTP/1.1 \r\n${H}\r\n\r\n`],
  ['HTTP/0.9', 400, 'GET /\r\n'],
  ['another version', 505, `GET / HTTP/2.0\r\n${H}\r\n\r\n`],
  ['a later minor version', 505, `GET / HTTP/1.2\r\n${H}\r\n\r\n`],
  ['a lower case protocol', 400, `GET / http/1.1\r\n${H}\r\n\r\n`],
  ['a long minor version', 400, `GET / HTTP/1.10\r\n${H}\r\n\r\n`],
  ['a method of no token', 400, `GE(T / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a method without an end', 501, `${'A'.repeat(40)} / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['the preface of HTTP/2', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS hello', 400, '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'],
  ['a request line of over 8 KiB', 414, `GET /${'a'.repeat(9000)} HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a request line without an end', 414, `GET /${'a'.repeat(20_000)}`],
  ['a head of over 64 KiB', 431, `${GET}\r\n${H}\r\nX: ${'a'.repeat(66_000)}\r\n\r\n`],
  ['a head without an end', 431, `${GET}\r\n${H}\r\nX: ${'a'.repeat(140_000)}`],
  ['over 100 fields', 431, `${GET}\r\n${H}\r\n${'X: y\r\n'.repeat(100)}\r\n`],
  ['a Connection field of no tokens', 400, `${GET}\r\n${H}\r\nConnection: a b\r\n\r\n`],
]

test.each(MALFORMED)(
  '%s is refused with %i, and nothing reaches the upstream',
  async (_what, status, bytes) => {
    const client = stand.raw().send(bytes)
    const received = await client.end()
    expect(statusOf(received)).toBe(status)
    expect(received).toContain('Connection: close')
    expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(upstream.received).toBe('')
  },
)

test.each(MALFORMED)('%s is refused with %i also when it comes in drips', async (_what, status, bytes) => {
  if (bytes.length > 500) return
  const client = stand.raw()
  for (const byte of bytes) {
    if (client.ended) break
    if (client.socket.writable) client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(statusOf(await client.end())).toBe(status)
  expect(upstream.received).toBe('')
})

/** Refused once the body shows it: the head has been sent on, the rest is not. */
const BAD_CHUNKS: [string, string][] = [
  ['no number', 'x\r\nabc\r\n'],
  ['an empty size', '\r\nabc'],
  ['a sign', '+3\r\nabc\r\n0\r\n\r\n'],
  ['0x', '0x3\r\nabc\r\n0\r\n\r\n'],
  ['17 digits', `${'0'.repeat(16)}3\r\nabc\r\n0\r\n\r\n`],
  ['a size beyond all numbers', 'ffffffffffffffff\r\nabc'],
  ['a space after the size', '3 \r\nabc\r\n0\r\n\r\n'],
  ['a bare LF after the size', '3\nabc\r\n0\r\n\r\n'],
  ['a bare LF in an extension', `3;a=b\n${SMUGGLED}`],
  ['an extension of no name', '3;=b\r\nabc\r\n0\r\n\r\n'],
  ['an extension of over 256 bytes', `3;a=${'b'.repeat(300)}\r\nabc\r\n0\r\n\r\n`],
  ['data longer than its size', '3\r\nabcd\r\n0\r\n\r\n'],
  ['a bare LF after the data', '3\r\nabc\n0\r\n\r\n'],
  ['a bare LF at the end', '0\r\n\n'],
  ['a trailer of no token', '0\r\na b: c\r\n\r\n'],
  ['a folded trailer', '0\r\na: b\r\n c\r\n\r\n'],
  ['a trailer that is framing', '0\r\nContent-Length: 5\r\n\r\n'],
  ['a trailer that is framing in another spelling', '0\r\ntransfer_encoding: chunked\r\n\r\n'],
  ['a trailer that forges the client', '0\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n'],
  ['trailers of over 8 KiB', `0\r\n${`a: ${'b'.repeat(1000)}\r\n`.repeat(9)}\r\n`],
]

test.each(BAD_CHUNKS)(
  'a chunk with %s is 400 and the upstream never sees a whole request',
  async (_what, body) => {
    const silent = await RawUpstream.start(() => {})
    await stand.client.applyTable(tableOf([silent.spec]))
    const client = stand.raw().send(`${POST}\r\n${H}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)
    const received = await client.end()
    expect(statusOf(received)).toBe(400)
    expect(silent.received).not.toContain('smuggled')
    expect(silent.received).not.toMatch(/\r\n0\r\n\r\n$/)
    silent.close()
    await stand.client.applyTable(tableOf([upstream.spec]))
  },
)

test.each([
  ['CONNECT', 405, `CONNECT ${HOST}:443 HTTP/1.1\r\n${H}\r\n\r\n`],
  ['TRACE', 405, `TRACE / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['an unknown expectation', 417, `${GET}\r\n${H}\r\nExpect: a-pony\r\n\r\n`],
  ['an unknown host', 404, `${GET}\r\nHost: nobody.test\r\n\r\n`],
  ['an unknown host and a body', 404, `${POST}\r\nHost: nobody.test\r\nContent-Length: 5\r\n\r\nhello`],
  [
    'an unknown host and chunks',
    404,
    `${POST}\r\nHost: nobody.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ],
])('after %s the answer is %i and the connection goes on', async (_what, status, bytes) => {
  const client = stand.raw().send(bytes)
  await client.until('</html>')
  expect(statusOf(client.received)).toBe(status)
  client.request(GET, H, 'Connection: close')
  expect(await client.end()).toMatch(/<\/html>\nHTTP\/1\.1 200 OK[^]*ok$/)
})

/** Unusual but right: served, and read by the upstream as one request. */
const GOOD: [string, string, RegExp][] = [
  [
    'an absolute target of the same host',
    `GET http://APP.test/x?y HTTP/1.1\r\n${H}\r\n\r\n`,
    /^GET \/x\?y HTTP\/1\.1\r\nHost: app\.test\r\n/,
  ],
  ['an absolute target without a path', `GET http://${HOST}?q HTTP/1.1\r\n${H}\r\n\r\n`, /^GET \/\?q HTTP/],
  ['an absolute target with a port', `GET http://${HOST}:81/x HTTP/1.1\r\n${H}:81\r\n\r\n`, /^GET \/x HTTP/],
  ['a star for OPTIONS', `OPTIONS * HTTP/1.1\r\n${H}\r\n\r\n`, /^OPTIONS \* HTTP/],
  ['an empty line before', `\r\n${GET}\r\n${H}\r\n\r\n`, /^GET \/ HTTP/],
  ['no space after the colon', `${GET}\r\nHost:${HOST}\r\n\r\n`, /^GET \/ HTTP\/1\.1\r\nHost: app\.test\r\n/],
  ['an empty value', `${GET}\r\n${H}\r\nX-Empty:\r\n\r\n`, /\r\nX-Empty: \r\n/],
  ['bytes over 127', `${GET}\r\n${H}\r\nX-Name: caf\xe9\r\n\r\n`, /caf\xe9/],
  ['a method of the future', `PROPFIND / HTTP/1.1\r\n${H}\r\n\r\n`, /^PROPFIND \/ HTTP/],
  [
    'lengths and hosts spelled with underscores',
    `${GET}\r\n${H}\r\nContent_Length: 9\r\n\r\n`,
    /^(?![^]*Content_Length)GET/,
  ],
  [
    'a Connection field that lists framing',
    `${POST}\r\n${H}\r\nConnection: content-length, host\r\nContent-Length: 2\r\n\r\nab`,
    /Host: app\.test\r\n[^]*Content-Length: 2\r\n[^]*ab$/,
  ],
  ['100 fields', `${GET}\r\n${H}\r\n${'X: y\r\n'.repeat(99)}\r\n`, /^GET/],
  ['a target of nearly 8 KiB', `GET /${'a'.repeat(8100)} HTTP/1.1\r\n${H}\r\n\r\n`, /^GET \/a{8100} HTTP/],
  [
    'chunk extensions',
    `${POST}\r\n${H}\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b;c="d\\" e"\r\nabc\r\n0;x\r\nA: b\r\n\r\n`,
    /\r\nabc\r\n0/,
  ],
]

test.each(GOOD)('%s is served', async (_what, bytes, seen) => {
  const client = stand.raw().send(bytes)
  expect(statusOf(await client.until('ok'))).toBe(200)
  expect(upstream.received).toMatch(seen)
  expect(upstream.requestLines.length).toBeLessThanOrEqual(1)
  client.close()
})

test.each(GOOD)('%s is served when it comes in drips', async (_what, bytes, seen) => {
  if (bytes.length > 500) return
  const client = stand.raw()
  for (const byte of bytes) {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await client.until('ok')
  await expect.poll(() => upstream.received).toMatch(seen)
  client.close()
})
