import { ServerResponse, type IncomingMessage, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setResponseHeaders, type H3Event } from 'h3'
import { WebSocketServer, type WebSocket } from 'ws'
import { AppError } from '../errors.ts'
import { identify } from './auth.ts'
import { watchCredentials } from './credential-watch.ts'

/** The only version that there is (RFC 6455 section 4.1). */
const VERSION = '13'
/** 16 bytes in base64 (RFC 6455 section 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
/** A longer message closes with 1009. What is not sent further in pieces would be in memory at once. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** By then a refused client has read the answer. */
const REFUSED_LINGER_MS = 5_000

const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
})

/** What node had read behind the head of a request whose connection may be taken over. */
const handedOver = new WeakMap<IncomingMessage, Buffer>()

/** A response that is a WebSocket: the handler takes the connection over with `webSocketOf`. */
export interface SocketResponse {
  subprotocol: string
  description: string
}

/** Whether a request asks for a WebSocket, so that node should hand its connection over. It has no body. */
export function asksForWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  const isAsked = headers.upgrade?.toLowerCase() === 'websocket'
  return method === 'GET' && httpVersion === '1.1' && isAsked && !hasBody
}

/**
 * Passes a request with whose head node handed its connection over to `answer`, which checks it like every other request. The
 * connection closes after the answer, unless an endpoint takes it over.
 */
export function answerUpgrade(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  answer: RequestListener,
): void {
  handedOver.set(request, head)
  // Node no longer looks after this connection.
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  response.once('finish', () => {
    socket.end()
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), REFUSED_LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
  })
  answer(request, response)
}

/** A WebSocket that a client asks for, and how to give it one. */
export interface OfferedSocket {
  /** Refuses a request that cannot become the WebSocket. Throws `upgrade_required` or `invalid_request`. */
  assertPossible(): void
  /** Takes the connection over; null when the client has left. Nothing can be answered after that. */
  accept(): WebSocket | null
  /** Whether its credentials are still valid. */
  isAllowed(): boolean
  /** Calls `onEnd` when they no longer are. The returned function stops that. */
  watch(onEnd: () => void): () => void
  /** How many bytes have come from the client. */
  bytesRead(): number
}

/** What the request of an endpoint with a `SocketResponse` offers. */
export function webSocketOf(event: H3Event, { subprotocol }: SocketResponse): OfferedSocket {
  return {
    assertPossible: () => assertPossible(event, subprotocol),
    accept: () => accept(event, subprotocol),
    isAllowed: () => identify(event).kind !== 'none',
    watch: (onEnd) => watchCredentials(event, onEnd),
    bytesRead: () => event.node.req.socket.bytesRead,
  }
}

function assertPossible(event: H3Event, subprotocol: string): void {
  const { req } = event.node
  if (!handedOver.has(req) || req.headers['sec-websocket-version'] !== VERSION) {
    // RFC 9110 section 15.5.22 and RFC 6455 section 4.4: it says what would be understood.
    setResponseHeaders(event, {
      upgrade: 'websocket',
      connection: event.node.res.shouldKeepAlive ? 'upgrade' : 'upgrade, close',
      'sec-websocket-version': VERSION,
    })
    throw new AppError('upgrade_required', `this is a WebSocket of version ${VERSION}: ask for an upgrade`)
  }
  if (!KEY.test(req.headers['sec-websocket-key'] ?? ''))
    throw new AppError('invalid_request', 'Sec-WebSocket-Key: must be 16 bytes in base64')
  const offered = (req.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(subprotocol))
    throw new AppError('invalid_request', `Sec-WebSocket-Protocol: must offer ${subprotocol}`)
}

function accept(event: H3Event, subprotocol: string): WebSocket | null {
  const { req, res } = event.node
  res.detachSocket(req.socket)
  // From here on, nobody answers with the response.
  event._handled = true
  // The first of several would be chosen.
  req.headers['sec-websocket-protocol'] = subprotocol
  let accepted: WebSocket | null = null
  sockets.handleUpgrade(req, req.socket, handedOver.get(req)!, (socket) => (accepted = socket))
  return accepted
}
