import { once } from 'node:events'
import { expect, test } from 'vitest'
import { HOST, RawUpstream, waitFor, type RawConnection } from '../stand.ts'
import { stand, use } from './relay-stand.ts'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

type Socket = RawUpstream['sockets'][number]

/** A tunnel whose service has said something, and the service's end. */
async function open(): Promise<{ client: RawConnection; socket: Socket; upstream: RawUpstream }> {
  const upstream = await use(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET ')) socket.write(`${SWITCH}hello`)
    }),
  )
  const client = stand
    .raw()
    .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: upgrade', 'Upgrade: websocket')
  await client.until('hello')
  const socket = upstream.sockets[0]!
  socket.removeAllListeners('end')
  return { client, socket, upstream }
}

test('a client that ends its half of a tunnel hears its service to the end', async () => {
  const { client, socket, upstream } = await open()
  client.send('goodbye').socket.end()
  await once(socket, 'end')
  expect(upstream.received).toMatch(/goodbye$/)
  socket.write(' and')
  await client.until(' and')
  socket.end(' more.')
  expect(await client.end()).toMatch(/hello and more\.$/)
})

test('a service that ends its half of a tunnel hears its client to the end', async () => {
  const { client, socket, upstream } = await open()
  socket.end(' goodbye')
  await once(client.socket, 'end')
  expect(client.received).toMatch(/hello goodbye$/)
  client.send('one')
  await waitFor(
    () => upstream.received.endsWith('one'),
    () => upstream.received,
  )
  client.send(' more')
  client.socket.end()
  await once(socket, 'end')
  expect(upstream.received).toMatch(/one more$/)
})

test('when a client resets a tunnel its service sees it', async () => {
  const { client, socket } = await open()
  client.socket.resetAndDestroy()
  await once(socket, 'end')
})

test('when a service resets a tunnel its client sees it, after what it said', async () => {
  const { client, socket } = await open()
  socket.resetAndDestroy()
  expect(await client.end()).toMatch(/hello$/)
})
