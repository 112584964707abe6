import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Forward } from '#daemon/datastores/forward.ts'
import { freePorts } from '#daemon/datastores/free-ports.ts'

const HOST = '127.0.0.1'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** Listens with a program; returns where. */
async function listen(program: (socket: Socket) => unknown): Promise<{ host: string; port: number }> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    program(socket)
  })
  cleanups.push(() => server.close())
  await once(server.listen(0, HOST), 'listening')
  return { host: HOST, port: (server.address() as AddressInfo).port }
}

async function forwardTo(target: { host: string; port: number }) {
  const [port] = await freePorts()
  const faults: Error[] = []
  const forward = new Forward({ host: HOST, port }, target, (error) => faults.push(error))
  cleanups.push(() => forward.close())
  const dial = (): Socket => connect({ host: HOST, port, allowHalfOpen: true })
  return { forward, dial, port, faults }
}

test('a client that has sent everything still gets a long answer', async () => {
  const answer = 'x'.repeat(5_000_000)
  const target = await listen((socket) => {
    let asked = ''
    socket.on('data', (piece) => (asked += piece.toString()))
    socket.on('end', () => socket.end(asked + answer))
  })
  const { dial } = await forwardTo(target)
  const client = dial()
  client.end('question')
  expect(await text(client)).toBe(`question${answer}`)
})

test('new connections go to a new target, and a broken one is broken for its client', async () => {
  const first = await listen((socket) => socket.end('first'))
  const second = await listen((socket) => socket.end('second'))
  const { dial, forward } = await forwardTo(first)
  expect(await text(dial())).toBe('first')
  forward.target = second
  expect(await text(dial())).toBe('second')
  const [closed] = await freePorts()
  forward.target = { host: HOST, port: closed }
  await once(dial().resume(), 'end')
})

test('closing ends what passes through, and lets the port go', async () => {
  const target = await listen((socket) => socket.resume())
  const { dial, forward, port } = await forwardTo(target)
  const client = dial()
  client.on('error', () => {})
  await once(client, 'connect')
  await delay(50)
  forward.close()
  await once(client.resume(), 'end')
  const other = createServer()
  cleanups.push(() => other.close())
  await once(other.listen(port, HOST), 'listening')
})

test('a port that another program has is reported', async () => {
  const taken = await listen(() => {})
  const fault = Promise.withResolvers<Error>()
  const forward = new Forward(taken, taken, fault.resolve)
  cleanups.push(() => forward.close())
  expect(await fault.promise).toMatchObject({ code: 'EADDRINUSE' })
})
