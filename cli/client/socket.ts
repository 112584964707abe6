import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { VERSION } from '#server/version.ts'
import type { Api, Query } from './api.ts'
import { agentFor, lostConnection } from './transport.ts'

/** The server waits 5 s for a datastore. */
const OPEN_WITHIN_MS = 30_000
/** The server takes messages of up to 1 MiB and sends up to 64 KiB. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** The server wants a sign of life every 30 s, which it cannot ask for behind what is not read. */
const PONG_EVERY_MS = 20_000
/** The server pings every 30 s. */
const SILENCE_MS = 75_000

/** A WebSocket of the API, and when it is open, paused. `opened` throws Fault if it is refused, or the connection breaks. */
export function socketOf(
  api: Api,
  path: string,
  query: Query,
  protocol: string,
): { socket: WebSocket; opened: Promise<void> } {
  const { way, path: target, headers } = api.socketAt(path, query)
  const { socketPath } = way
  const socket = new WebSocket(new URL(target, way.url), protocol, {
    headers: { 'user-agent': `deployer-cli/${VERSION}`, ...headers },
    handshakeTimeout: OPEN_WITHIN_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    ...(socketPath === undefined
      ? { agent: agentFor(way, { keepAlive: false }) }
      : { createConnection: () => connect(socketPath) }),
  })
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', () => {
      // Messages may be there already, before anybody listens.
      socket.pause()
      resolve()
    })
    socket.on('error', (error) => reject(lostConnection(api.url, error)))
    socket.once('unexpected-response', (_, answer: IncomingMessage) => {
      api.faultOf(answer).then(reject, reject)
    })
  })
  return { socket, opened }
}

/** Ends a connection on which the server has become silent, and gives signs of life itself. Ends with the connection. */
export function keepAlive(socket: WebSocket): void {
  let lastSign = performance.now()
  const sign = () => (lastSign = performance.now())
  socket.on('ping', sign).on('message', sign)
  const watch = setInterval(() => {
    // What is not read is no silence.
    if (socket.isPaused) sign()
    if (performance.now() - lastSign > SILENCE_MS) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) socket.pong()
  }, PONG_EVERY_MS)
  socket.once('close', () => clearInterval(watch))
}
