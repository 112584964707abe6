import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { VERSION } from '#server/version.ts'
import { EXIT, Fault } from '../fault.ts'
import type { Api, Query } from './api.ts'
import { agentFor, lostConnection } from './transport.ts'

const PROTOCOL = 'deployer.tcp.v1'
/** The server waits 5 s for the datastore. */
const OPEN_WITHIN_MS = 30_000
/** What may wait for a slow side before the other is read no further. */
const HELD_BYTES = 256 * 1024
/** The server takes messages of up to 1 MiB and sends up to 64 KiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** The server wants a sign of life every 30 s, which it cannot ask for behind what is not read. */
const PONG_EVERY_MS = 20_000
/** The server pings every 30 s. */
const SILENCE_MS = 75_000
const ENDED = 1000

/**
 * Opens a tunnel for a connection of this computer, and passes its bytes until either side ends. Throws Fault if it is refused, or
 * breaks; the connection is closed then.
 */
export async function passThrough(api: Api, path: string, query: Query, local: Socket): Promise<void> {
  try {
    const remote = await open(api, path, query, local)
    await pass(remote, local)
  } catch (error) {
    // Nobody waits for a connection any more that its program has closed.
    if (!local.destroyed) throw error
  } finally {
    local.destroySoon()
  }
}

function open(api: Api, path: string, query: Query, local: Socket): Promise<WebSocket> {
  const { way, path: target, headers } = api.socketAt(path, query)
  const { socketPath } = way
  const remote = new WebSocket(new URL(target, way.url), PROTOCOL, {
    headers: { 'user-agent': `deployer-cli/${VERSION}`, ...headers },
    handshakeTimeout: OPEN_WITHIN_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(socketPath === undefined
      ? { agent: agentFor(way, { keepAlive: false }) }
      : { createConnection: () => connect(socketPath) }),
  })
  local.once('close', () => remote.terminate())
  return new Promise((resolve, reject) => {
    remote.once('open', () => resolve(remote))
    remote.on('error', (error) => reject(lostConnection(api.url, error)))
    remote.once('unexpected-response', (_, answer: IncomingMessage) => {
      api.faultOf(answer).then(reject, reject)
    })
  })
}

/** Passes bytes in order, both ways. Whoever reads slowly slows the other side. */
function pass(remote: WebSocket, local: Socket): Promise<void> {
  let lastSign = performance.now()
  remote.on('ping', () => (lastSign = performance.now()))
  remote.on('message', (bytes) => {
    lastSign = performance.now()
    if (!local.write(bytes as Buffer)) remote.pause()
  })
  local.on('drain', () => {
    lastSign = performance.now()
    remote.resume()
  })
  local.on('data', (bytes: Buffer) => {
    remote.send(bytes, () => {
      if (remote.bufferedAmount <= HELD_BYTES) local.resume()
    })
    if (remote.bufferedAmount > HELD_BYTES) local.pause()
  })
  local.on('end', () => {
    remote.close(ENDED)
    remote.resume()
  })
  // It was accepted paused, so that nothing came before anybody listened.
  local.resume()
  const watch = setInterval(() => {
    const isSilent = performance.now() - lastSign > SILENCE_MS && !remote.isPaused
    if (isSilent) remote.terminate()
    else if (remote.readyState === WebSocket.OPEN) remote.pong()
  }, PONG_EVERY_MS)
  return new Promise((resolve, reject) => {
    remote.once('close', (code, reason) => {
      clearInterval(watch)
      if (code === ENDED || local.readableEnded || local.destroyed) resolve()
      else reject(new Fault(EXIT.noConnection, `the tunnel closed: ${String(reason) || `code ${code}`}`))
    })
  })
}
