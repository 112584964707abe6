import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, type ConnectionOptions, type Server as TlsServer } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGate } from '#agent/gate.ts'
import { ENGINE_PROTOCOL, type Identity } from '#agent/protocol.ts'
import { certifyNode, serverIdentity } from '#daemon/nodes/authority.ts'
import { Tunnel } from '#daemon/nodes/tunnel.ts'
import { makeSelfSigned } from '../../support/certificate.ts'
import { openContext } from '../../support/context.ts'
import { waitFor } from '../../support/wait.ts'

const NODE = 'nod-00000000000000000001'
const OTHER_NODE = 'nod-00000000000000000002'

let close: () => Promise<void>
let folder: string
let engine: Server
/** How the engine of the node behaves. */
let serve: (socket: Socket) => void
let gate: TlsServer
let port: number
let identity: Identity
let tunnel: Tunnel
let moves: number
/** Longer than between machines that have time. */
const LATE_MS = 1_000

/** The agent's part that acts while the server is away. */
let standIn: { heard: () => Promise<void>; onAway: () => void }

/** What the agent has taken. */
const taken: Socket[] = []

beforeEach(async () => {
  ;({ close } = await openContext())
  folder = mkdtempSync(join(tmpdir(), 'deployer-tunnel-'))
  serve = (socket) => socket.pipe(socket)
  engine = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  standIn = { heard: async () => {}, onAway: () => {} }
  engine.listen(join(folder, 'real.sock'))
  await once(engine, 'listening')
  identity = await serverIdentity(folder)
  gate = await openGate(0)
  port = (gate.address() as AddressInfo).port
  moves = 0
  tunnel = new Tunnel(folder, { nodeId: NODE, host: '127.0.0.1', port, identity }, () => moves++)
  await waitFor(() => tunnel.fault === null, 'the agent answers')
})
afterEach(async () => {
  tunnel.close()
  gate.close()
  engine.close()
  rmSync(folder, { recursive: true })
  await close()
})

async function openGate(at: number): Promise<TlsServer> {
  const opened = createGate({
    ...{ identity: await certifyNode(NODE), enginePath: join(folder, 'real.sock') },
    standIn,
  })
  opened.on('connection', (socket: Socket) => taken.push(socket))
  opened.listen(at, '127.0.0.1')
  await once(opened, 'listening')
  return opened
}

function dial(): Socket {
  const socket = connect({ path: tunnel.socketPath, allowHalfOpen: true })
  socket.on('error', () => {})
  return socket
}

test('the engine answers after the client has ended its side', async () => {
  serve = (socket) => {
    // Not text(): that closes the socket at the end of one side.
    let asked = ''
    socket.setEncoding('utf8').on('data', (piece: string) => (asked += piece))
    socket.on('end', () => socket.end(`${asked} is known`))
  }
  const socket = dial()
  socket.end('what was asked')
  expect(await text(socket)).toBe('what was asked is known')
})

test('only this user may connect', () => {
  expect(statSync(tunnel.socketPath).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, NODE)).mode & 0o777).toBe(0o700)
})

test('a client that does not read holds the engine back', async () => {
  let written = 0
  serve = (socket) => {
    const piece = Buffer.alloc(64 * 1024)
    const write = (): void => {
      while (!socket.destroyed) {
        written += piece.length
        if (!socket.write(piece)) break
      }
    }
    socket.on('drain', write)
    write()
  }
  const socket = dial()
  socket.pause()
  await once(socket, 'connect')
  let before = -1
  await expect
    .poll(async () => {
      before = written
      await delay(200)
      return written === before && written > 0
    })
    .toBe(true)
  // What the kernel and the streams hold on the way.
  expect(written).toBeLessThan(64 * 1024 ** 2)
  socket.destroy()
})

test('an engine that goes away ends the connection of the client', async () => {
  serve = (socket) => socket.destroy()
  const socket = dial()
  socket.write('x')
  expect(await text(socket)).toBe('')
})

test('a line of a server that counts as away is cut, and the next one waits for what is done meanwhile', async () => {
  const line = dial()
  line.write('x')
  await once(line, 'data')
  const before = standIn.heard
  const { promise: isHandedBack, resolve } = Promise.withResolvers<void>()
  standIn.heard = () => isHandedBack
  standIn.onAway()
  expect(await text(line)).toBe('')
  const next = dial()
  next.end('y')
  expect(await Promise.race([text(next), delay(LATE_MS, 'nothing')])).toBe('nothing')
  standIn.heard = before
  resolve()
  await waitFor(() => tunnel.fault === null, 'the agent answers')
})

test('the figures of the host are known', () => {
  expect(tunnel.figures?.memory?.totalBytes).toBeGreaterThan(0)
  expect(tunnel.figures?.disk?.freeBytes).toBeGreaterThan(0)
})

test('an agent that says nothing is dead after a while, and its return is known', async () => {
  // Its port takes connections and says nothing, like a machine that hangs.
  gate.close()
  for (const socket of taken) socket.destroy()
  const silent = createServer(() => {}).listen(port, '127.0.0.1')
  await once(silent, 'listening')
  await expect.poll(() => tunnel.fault, { interval: 20 }).toBe('no answer in time')
  // What is asked of it does not wait for a machine that hangs.
  expect(await text(dial())).toBe('')
  silent.close()
  gate = await openGate(port)
  await expect.poll(() => tunnel.fault).toBeNull()
  expect(moves).toBeGreaterThanOrEqual(3)
})

test('an agent that is not there is dead at once', async () => {
  gate.close()
  for (const socket of taken) socket.destroy()
  await expect.poll(() => tunnel.fault, { interval: 20 }).toContain('ECONNREFUSED')
})

test('an agent that answers late, since its machine has much to do, is not dead', async () => {
  const slow = createServer((socket) => {
    const far = connect(port, '127.0.0.1')
    for (const each of [socket, far]) each.on('error', () => {})
    socket.pipe(far)
    far.on('data', (piece) => void delay(LATE_MS).then(() => socket.write(piece)))
    socket.on('close', () => far.destroy())
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  let changes = 0
  const address = { nodeId: NODE, host: '127.0.0.1', port: (slow.address() as AddressInfo).port, identity }
  const other = new Tunnel(join(folder, 'slow'), address, () => changes++)
  try {
    await waitFor(() => other.fault === null, 'its first answer')
    const first = other.figures!.answeredAt
    await waitFor(() => other.figures!.answeredAt > first, 'its next answer')
    expect(changes).toBe(1)
    expect(other.fault).toBeNull()
  } finally {
    other.close()
    slow.close()
  }
})

test.each<[string, () => Promise<ConnectionOptions>]>([
  ['without a certificate', async () => ({ ca: identity.authority })],
  [
    'with a certificate of another authority',
    async () => {
      const made = await makeSelfSigned(folder, 'server.deployer')
      return { ca: identity.authority, cert: readFileSync(made.certificate), key: readFileSync(made.key) }
    },
  ],
  [
    "with another node's certificate",
    async () => {
      const { certificate, key, authority } = await certifyNode(OTHER_NODE)
      return { ca: authority, cert: certificate, key }
    },
  ],
])('a client %s does not reach the engine', async (_who, options) => {
  let reached = false
  serve = () => (reached = true)
  const socket = connectTls({
    ...(await options()),
    host: '127.0.0.1',
    port,
    servername: NODE,
    ALPNProtocols: [ENGINE_PROTOCOL],
  })
  socket.on('error', () => {})
  socket.write('GET /info HTTP/1.1\r\n\r\n')
  await new Promise((resolve) => socket.on('close', resolve))
  expect(reached).toBe(false)
})

test("an agent with another node's certificate is not taken for the node", async () => {
  const other = new Tunnel(folder, { nodeId: OTHER_NODE, host: '127.0.0.1', port, identity }, () => {})
  await expect.poll(() => other.fault).toMatch(/does not match/)
  other.close()
})
