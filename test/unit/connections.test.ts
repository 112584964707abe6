import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Connections } from '#server/http/connections.ts'
import { Request } from '#server/http/request.ts'
import { waitFor } from '../support/wait.ts'
import { Wire } from '../support/wire.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Opens a connection to a server whose `answer` is called when it is a request's turn. */
async function open(answer: (request: IncomingMessage) => Promise<string>): Promise<Wire> {
  const connections = new Connections()
  server = createServer({ IncomingMessage: Request })
    .on('connection', (socket) => connections.opened(socket))
    .on('request', (request, response) =>
      connections.take(
        request.socket,
        response,
        () => void answer(request).then((text) => response.end(text)),
      ),
    )
    .on('clientError', (_, socket) =>
      connections.onInvalid(socket as Socket, () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  return await Wire.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

const PIECE = 'x'.repeat(30_000)
const head = (method: string, path: string, length: number) => [
  `${method} ${path} HTTP/1.1`,
  'Host: localhost',
  `Content-Length: ${length}`,
]

test.each([
  ['before', (pieces: AsyncIterator<Buffer>) => pieces.return!()],
  ['after', (pieces: AsyncIterator<Buffer>) => delay(100).then(() => pieces.return!())],
])(
  'a request behind one whose body was left is handled %s its answer, with more to come',
  async (_, leave) => {
    using wire = await open(async (request) => {
      if (request.method === 'GET') return 'the next'
      const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
      await pieces.next()
      wire.socket.write(PIECE.repeat(3))
      await waitFor(() => request.readableLength >= request.readableHighWaterMark, 'more than is read ahead')
      void leave(pieces)
      return 'the first'
    })
    wire.send(head('POST', '/', 4 * PIECE.length), PIECE)
    await waitFor(() => wire.received.includes('the first'), 'the first answer')
    wire.send(head('GET', '/', 0))
    await waitFor(() => wire.received.includes('the next'), 'the next answer', 5_000)
  },
)

const CHUNKED = ['GET / HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked']

test('a request that was answered before its body spoiled gets no second answer', async () => {
  using wire = await open(async () => 'the only one')
  wire.send(CHUNKED)
  await waitFor(() => wire.received.includes('the only one'), 'the answer')
  wire.socket.write('no size\r\n')
  await waitFor(() => wire.closed, 'the end')
  expect(wire.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
})

test('a connection ends when its answer left a body in tiny pieces', async () => {
  using wire = await open(async () => 'the answer')
  wire.send(CHUNKED)
  await waitFor(() => wire.received.includes('the answer'), 'the answer')
  wire.socket.write('1\r\nx\r\n'.repeat(1_000))
  // Sooner than the time that a body has.
  await waitFor(() => wire.closed, 'the end', 4_500)
})
