import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CHUNKED, GET, H, POST, SMUGGLED, get, post } from './smuggling/cases.ts'
import { watched } from './smuggling/witness.ts'
import { statusOf } from './stand.ts'

const both = watched()

/** The bytes of a request to a host that does not exist. */
const toNobody = (bytes: string) => bytes.replace(H, 'Host: nobody.test')
const CHUNKS = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`
const LENGTH = `Content-Length: ${SMUGGLED.length}`

test.each([
  ['CONNECT', 405, `CONNECT app.test:443 HTTP/1.1\r\n${H}\r\n\r\n`],
  ['CONNECT to a path', 405, `CONNECT / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['CONNECT with a body', 405, post([LENGTH], SMUGGLED).replace('POST /', 'CONNECT app.test:80')],
  ['TRACE', 405, `TRACE / HTTP/1.1\r\n${H}\r\n\r\n`],
  ['TRACE with chunks', 405, post([CHUNKED], CHUNKS).replace('POST', 'TRACE')],
  ['TRACE that expects to be asked first', 405, get('Expect: 100-continue').replace('GET', 'TRACE')],
  ['an unknown expectation', 417, get('Expect: a-pony')],
  ['an empty expectation', 417, get('Expect:')],
  ['a list of expectations', 417, get('Expect: 100-continue, a-pony')],
  ['two expectations', 417, get('Expect: 100-continue', 'Expect: a-pony')],
  ['an unknown host', 404, toNobody(get())],
  ['an address for a host', 404, `${GET}\r\nHost: [::1]:80\r\n\r\n`],
  ['an unknown host and a body', 404, toNobody(post([LENGTH], SMUGGLED))],
  ['an unknown host and chunks', 404, toNobody(post([CHUNKED], CHUNKS))],
  ['an unknown host in the target', 404, `GET http://nobody.test/ HTTP/1.1\r\nHost: nobody.test\r\n\r\n`],
])('after %s the answer is %i and the connection continues', async (_what, status, bytes) => {
  const client = both.stand.raw().send(bytes)
  await client.until('</html>')
  expect(statusOf(client.received)).toBe(status)
  client.send(get('Connection: close'))
  expect(await client.end()).toMatch(/<\/html>\nHTTP\/1\.1 200 OK[^]*<read GET \/>$/)
  expect(both.witness.read).toEqual([['GET /', '']])
})

/** The client may send the body or wait for good: what comes next cannot be told apart. */
test.each([
  ['an unknown host', 404, toNobody(post(['Expect: 100-continue', LENGTH], SMUGGLED))],
  ['an unknown host and chunks', 404, toNobody(post(['Expect: 100-continue', CHUNKED], CHUNKS))],
  ['an unknown expectation', 417, post(['Expect: a-pony', LENGTH], SMUGGLED)],
  ['TRACE', 405, post(['Expect: 100-continue', LENGTH], SMUGGLED).replace('POST', 'TRACE')],
])('a body that waits for 100 ends the connection after %s', async (_what, status, bytes) => {
  const received = await both.stand.raw().send(bytes).end()
  expect(statusOf(received)).toBe(status)
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(received).toContain('\r\nConnection: close\r\n')
  expect(both.witness.received).toBe('')
})

test.each([
  ['a length', toNobody(post(['Content-Length: 1000000'], 'x'.repeat(1_000_000)))],
  ['chunks', toNobody(post([CHUNKED], `f4240\r\n${'x'.repeat(1_000_000)}\r\n0\r\n\r\n`))],
])('a body by %s that is too large to discard ends the connection', async (_what, bytes) => {
  const received = await both.stand.raw().send(bytes, SMUGGLED).end()
  expect(statusOf(received)).toBe(404)
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(both.witness.received).toBe('')
})

test('bad chunks after an answer of the relay end the connection', async () => {
  const received = await both.stand
    .raw()
    .send(toNobody(post([CHUNKED], `3\nabc${SMUGGLED}`)))
    .end()
  expect(statusOf(received)).toBe(404)
  expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(both.witness.received).toBe('')
})

test('a refusal can be read although the client keeps sending', async () => {
  const client = both.stand.raw().send(`${GET}\r\n${H}\nX: y\r\n\r\n`)
  for (let round = 0; round < 20 && client.socket.writable; round++) {
    client.send('x'.repeat(100_000))
    await sleep(5)
  }
  const received = await client.end()
  expect(statusOf(received)).toBe(400)
  expect(received).toMatch(/<\/html>\n$/)
  expect(client.failed).toBeNull()
  client.close()
})

test('good requests before a bad one are answered, those after it are not', async () => {
  const good = (path: string) => `GET ${path} HTTP/1.1\r\n${H}\r\n\r\n`
  const received = await both.stand
    .raw()
    .send(good('/1') + good('/2') + `${POST}\r\n${H}\r\nContent-Length: x\r\n\r\n` + good('/3'))
    .end()
  expect(received).toMatch(/<read GET \/1>HTTP\/1\.1 200 OK[^]*<read GET \/2>HTTP\/1\.1 400 [^]*<\/html>\n$/)
  expect(both.witness.read).toEqual([
    ['GET /1', ''],
    ['GET /2', ''],
  ])
})
