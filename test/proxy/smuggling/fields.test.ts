import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ProxyStand, RawUpstream, tableOf } from '../stand.ts'
import { GET, H, get } from './cases.ts'

let stand: ProxyStand
let upstream: RawUpstream
/** Head lines of the next answer, after its status line. */
let answered: string[] = []

beforeAll(async () => {
  upstream = await RawUpstream.start((socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return false
    socket.write(
      Buffer.from(['HTTP/1.1 200 OK', ...answered, 'Content-Length: 2', '', 'ok'].join('\r\n'), 'latin1'),
    )
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
afterEach(() => {
  answered = []
})

/** Sends a request with these fields; returns the lines that the upstream got, and those that came back. */
async function exchange(...fields: string[]): Promise<{ sent: string[]; back: string[] }> {
  const received = await stand
    .raw()
    .send(get(...fields, 'Connection: close'))
    .end()
  const linesOf = (text: string) => text.split('\r\n\r\n', 1)[0]!.split('\r\n').slice(1)
  return { sent: linesOf(upstream.received), back: linesOf(received) }
}

/** The fields that the relay sets, which every request ends with. */
const SET = [
  'X-Forwarded-For: 127.0.0.1',
  'X-Real-IP: 127.0.0.1',
  'X-Forwarded-Proto: http',
  expect.stringMatching(/^X-Forwarded-Port: \d+$/),
  'X-Forwarded-Host: app.test',
  expect.stringMatching(/^X-Request-Id: [0-9a-f]{32}$/),
]

test('a request loses its hop-by-hop fields in any case and spelling, and keeps all others in order', async () => {
  const { sent } = await exchange(
    'A: 1',
    'Keep-Alive: timeout=5, max=1000',
    'KEEP-ALIVE: 1',
    'keep_alive: 1',
    'B: 2',
    'Proxy-Connection: keep-alive',
    'Proxy_Connection: close',
    'TE: trailers, deflate',
    'tE:',
    'A: 3',
    'Upgrade: h2c',
    'uPGRADE: foo/2, h2c',
    'Http2-Settings: AAMAAABkAAQAAP__',
    'HTTP2_SETTINGS: AA',
    'Via: 1.1 elsewhere',
    'Trailer: X-Sum',
    'b: 4',
  )
  expect(sent).toEqual([H, 'A: 1', 'B: 2', 'A: 3', 'Via: 1.1 elsewhere', 'Trailer: X-Sum', 'b: 4', ...SET])
})

test('an answer may have more fields than a request', async () => {
  answered = Array.from({ length: 400 }, (_, at) => `Set-Cookie: c${at}=1`)
  const { back } = await exchange()
  expect(back.filter((line) => line.startsWith('Set-Cookie: '))).toEqual(answered)
})

test('a request loses what other proxies say about its client and its address, in any case and spelling', async () => {
  const { sent } = await exchange(
    'A: 1',
    ...[
      'Proxy',
      'X-Original-URL',
      'x-rewrite-url',
      'X-Client-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'CF-Connecting-IPv6',
      'Fastly-Client-IP',
      'X-Cluster-Client-IP',
      'Client-IP',
      'X-Host',
      'X-Original-Host',
    ].flatMap((name) => [`${name}: 1.2.3.4`, `${name.toUpperCase().replaceAll('-', '_')}: 1.2.3.4`]),
    'X-HTTP-Method-Override: PUT',
    'Proxy-Like: 1',
  )
  expect(sent).toEqual([H, 'A: 1', 'X-HTTP-Method-Override: PUT', 'Proxy-Like: 1', ...SET])
})

test('a request loses the fields that any of its Connection fields names, before or after, however spelled', async () => {
  const { sent } = await exchange(
    'X-A: 1',
    'Cookie: a=b',
    'Connection: x-a,X-B ,\tcookie,, X-None',
    'x-B: 2',
    'connection: AUTHORIZATION, keep-alive',
    'Authorization: Basic eA==',
    'X-C: 3',
    'X-A: 4',
    'X-Ab: 5',
    'X_A: 6',
  )
  expect(sent).toEqual([H, 'X-C: 3', 'X-Ab: 5', 'X_A: 6', ...SET])
})

test('naming the fields that the relay sets does not remove them', async () => {
  const { sent } = await exchange(
    'Connection: x-forwarded-for, x-real-ip, x-forwarded-proto, x-forwarded-host, x-request-id, host',
  )
  expect(sent).toEqual([H, ...SET])
})

test('forwarding fields of an untrusted client do not pass in any spelling', async () => {
  const { sent } = await exchange(
    ...['For', 'Proto', 'Host', 'Port', 'Prefix', 'Server', 'Ssl', 'By', 'User', ''].flatMap((name) => [
      `X-Forwarded-${name}: evil`,
      `x-forwarded-${name.toUpperCase()}: evil`,
      `X_Forwarded_${name}: evil`,
      `X-Forwarded_${name}: evil`,
      `X_FORWARDED-${name}: evil`,
    ]),
    'Forwarded: for=evil',
    'FORWARDED: for=evil',
    'X-Real-IP: evil',
    'X_Real_IP: evil',
    'x-real_ip: evil',
    'X_Request_Id: evil',
  )
  expect(sent).toEqual([H, ...SET])
})

test.each([
  ['128 characters', 'aZ09._-'.padEnd(128, 'x')],
  ['one character', '-'],
])('a request id of %s is kept and sent back', async (_what, id) => {
  const { sent, back } = await exchange(`x-request-ID: \t${id} `)
  expect(sent.at(-1)).toBe(`X-Request-Id: ${id}`)
  expect(back).toContain(`X-Request-Id: ${id}`)
})

test.each([
  ['empty', ['X-Request-Id:']],
  ['of 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
  ['with a space', ['X-Request-Id: a b']],
  ['with a slash', ['X-Request-Id: a/b']],
  ['with a quote', ['X-Request-Id: "a"']],
  ['with a letter of no ASCII', ['X-Request-Id: \xe4']],
  ['there twice', ['X-Request-Id: a', 'X-Request-Id: b']],
])('a request id that is %s is replaced', async (_what, fields) => {
  const { sent, back } = await exchange(...fields)
  expect(sent).toEqual([H, ...SET])
  expect(back).toContain(sent.at(-1))
})

test('an answer loses its hop-by-hop fields and those that Connection names, and keeps all others in order', async () => {
  answered = [
    'Set-Cookie: a=b',
    'Keep-Alive: timeout=5',
    'keep_alive: 1',
    'Connection: keep-alive, X-A,upgrade',
    'X-A: 1',
    'Proxy-Connection: keep-alive',
    'TE: x',
    'Upgrade: h2c, websocket',
    'HTTP2-Settings: AA',
    'Content_Length: 9',
    'Transfer_Encoding: chunked',
    'Set-Cookie: c=d',
    'Via: 1.0 cache',
    'X-Forwarded-For: 10.0.0.1',
    'Empty:',
    'Server: \ta \xe9 \t',
  ]
  const { back } = await exchange()
  expect(back).toEqual([
    'Set-Cookie: a=b',
    'Set-Cookie: c=d',
    'Via: 1.0 cache',
    'X-Forwarded-For: 10.0.0.1',
    'Empty: ',
    'Server: a \xe9',
    'Content-Length: 2',
    expect.stringMatching(/^X-Request-Id: [0-9a-f]{32}$/),
    'Connection: close',
  ])
})

test('framing fields that an answer names in Connection stay', async () => {
  answered = ['Connection: content-length, x-request-id']
  const { back } = await exchange()
  expect(back).toEqual(['Content-Length: 2', expect.stringMatching(/^X-Request-Id: /), 'Connection: close'])
})

test('the request id of an answer is not doubled', async () => {
  answered = ['x-request-id: its-own']
  const { back } = await exchange('X-Request-Id: ours')
  expect(back.filter((line) => /^x-request-id/i.test(line))).toEqual(['x-request-id: its-own'])
})

test('426 keeps the protocols that it offers, other answers do not', async () => {
  answered = ['Upgrade: websocket', 'Connection: upgrade']
  expect((await exchange()).back).not.toContain('Upgrade: websocket')
})

test('malformed values of a trusted proxy are not believed', async () => {
  const trusting = await ProxyStand.start(tableOf([upstream.spec], { trusted_proxies: ['127.0.0.1'] }))
  const fields = [
    'X-Forwarded-For: evil"\t, 203.0.113.9',
    'X_Forwarded_For: 6.6.6.6',
    'X-Forwarded-Proto: https, http',
    'X-Forwarded-Host: evil.test/x',
    'X-Forwarded-Port: 443; x',
    'X-Forwarded-Prefix: /evil',
    'Forwarded: for=203.0.113.9',
    'X_Forwarded: evil',
  ]
  await trusting
    .raw()
    .request(GET, H, ...fields, 'Connection: close')
    .end()
  const lines = upstream.received.split('\r\n')
  expect(lines).toContain('X-Forwarded-Proto: http')
  expect(lines).toContain('X-Forwarded-Host: app.test')
  expect(lines).toContain(`X-Forwarded-Port: ${trusting.port}`)
  expect(lines).toContain('X-Real-IP: 203.0.113.9')
  expect(upstream.received).not.toMatch(/6\.6\.6\.6|Prefix|\r\nForwarded:/)
  await trusting.stop()
})
