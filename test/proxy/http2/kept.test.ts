import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { fieldOf } from '../../../proxy/http2/field.ts'
import { knownLine } from '../../../proxy/http2/known-lines.ts'
import { FLAG, FRAME } from '../../../proxy/http2/protocol.ts'
import { RequestHeads } from '../../../proxy/http2/request-heads.ts'
import { closing } from '../lifetimes.ts'
import { secureTable } from '../secure.ts'
import { HOST, RawUpstream, waitFor } from '../stand.ts'
import { GET, RawHttp2, frame, headers } from './raw-client.ts'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

async function workerBefore(...answer: string[]): Promise<OwnRelay> {
  const upstream = closing(await RawUpstream.answering(...answer))
  return OwnRelay.start(secureTable([upstream.spec]))
}

test('an idle connection keeps nothing of its requests except itself', async () => {
  const own = await workerBefore('HTTP/1.1 200 OK', 'Content-Length: 2', '', 'ok')
  const forgotten = vi.spyOn(own.relay, 'forget')
  const rests = vi.spyOn(RequestHeads.prototype, 'forget')
  onTestFinished(() => {
    rests.mockRestore()
  })
  const client = await RawHttp2.to(own.portOf('https'))
  client.send(headers(1), headers(3), headers(5))
  for (const id of [1, 3, 5]) await client.until((given) => given.id === id && (given.flags & 1) !== 0)
  expect(forgotten).not.toHaveBeenCalled()
  await own.pass(1_000)
  expect(forgotten).toHaveBeenCalledTimes(3)
  expect(rests).toHaveBeenCalled()
  expect(await client.send(headers(7)).told(7)).toContain('ok')
})

test('lines that services repeat are remembered until there are too many', () => {
  const lineOf = (text: string) => knownLine(null, Buffer.from(`${text}\r\n`), 0, text.length + 2)
  const first = lineOf('Server: first')
  expect(lineOf('Server: first').id).toBe(first.id)
  // 1 MiB of them, twice what is remembered.
  for (let turn = 0; turn < 1_024; turn++) lineOf(`Server: ${turn} ${'a'.repeat(1_024)}`)
  expect(lineOf('Server: first').id).not.toBe(first.id)
})

test.each([
  [1_000, true],
  [4_096, false],
])('a head with a field of %i bytes is remembered: %s', (bytes, isRemembered) => {
  const fields = [...GET, ['x-long', 'x'.repeat(bytes)] as const].map(([name, value]) => fieldOf(name, value))
  const heads = new RequestHeads()
  const made = Array.from({ length: 4 }, () => {
    heads.begin()
    for (const field of fields) heads.take(field)
    return heads.make(false)
  })
  expect(made[3] === made[2]).toBe(isRemembered)
})

test.each([
  ['a client that does not close its end is let go 2 s after its connection is over', false],
  ['a client that has not taken its last answer has a minute for that', true],
])('%s', async (_what, isSlow) => {
  const much = 4 * 1024 * 1024
  const own = await workerBefore('HTTP/1.1 200 OK', `Content-Length: ${much}`, '', 'x'.repeat(much))
  // A half that the client does not close: node's TLS would close it by itself.
  const tcp = connect({ port: own.portOf('https'), host: '127.0.0.2', allowHalfOpen: true })
  const socket = connectTls({
    socket: tcp,
    servername: HOST,
    ALPNProtocols: ['h2'],
    rejectUnauthorized: false,
  })
  onTestFinished(() => void tcp.destroy())
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  const window = Buffer.alloc(6)
  window.writeUInt16BE(4)
  window.writeUInt32BE(much, 2)
  const more = Buffer.alloc(4)
  more.writeUInt32BE(much)
  socket.write(PREFACE, 'latin1')
  socket.write(frame(FRAME.settings, 0, 0, window))
  socket.write(frame(FRAME.settings, FLAG.ack, 0))
  socket.write(frame(FRAME.windowUpdate, 0, 0, more))
  if (isSlow) {
    socket.write(headers(1, GET))
    await waitFor(
      () => own.relay.openRequests === 1,
      () => 'no request',
    )
  }
  socket.pause()
  tcp.pause()
  socket.write(frame(FRAME.goAway, 0, 0, Buffer.alloc(8)))
  await own.pass(1_000)
  expect(own.relay.openConnections).toBe(1)
  await own.pass(10_000)
  if (!isSlow) return expect.poll(() => own.relay.openConnections).toBe(0)
  await own.pass(30_000)
  expect(own.relay.openConnections).toBe(1)
  await own.pass(80_000)
  await expect.poll(() => own.relay.openConnections).toBe(0)
})
