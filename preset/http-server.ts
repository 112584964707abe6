import { once } from 'node:events'
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { formatAddress } from '#daemon/proxy/listeners.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { admission } from '#server/http/admission.ts'
import { Connections } from '#server/http/connections.ts'
import { asGet } from '#server/http/head.ts'
import { Request } from '#server/http/request.ts'
import { errorText, refusalOf, refuse } from '#server/http/refuse.ts'
import { answerUpgrade, asksForWebSocket } from '#server/http/web-socket.ts'
import type { ListenAddress } from '#server/options/values.ts'
import type { Options } from '#server/options/index.ts'

/** How long a client may take to send the head of a request. */
const HEAD_TIMEOUT_MS = 30_000
/** Longer than load balancers keep theirs (60 s), so that they never write into a connection that is just closing. */
const IDLE_TIMEOUT_MS = 65_000
/** How often node looks for request heads that take too long. */
const CHECK_INTERVAL_MS = 5_000
/** By then a refused client has read the answer. One that keeps sending and never closes is cut off. */
const REFUSED_LINGER_MS = 5_000
/** How long requests may still take when the server stops. */
const CLOSE_WITHIN_MS = 2_000

/**
 * Creates node's server with `handle` behind the checks of a request's head. Requests that come before the daemon has
 * `started` wait for it, except the liveness probe.
 */
export function createHttpServer(options: Options, handle: RequestListener, started: Promise<void>): Server {
  const admit = admission(options)
  const connections = new Connections()
  const inTurn = (answer: RequestListener<typeof Request>): RequestListener<typeof Request> => {
    return (request, response) =>
      connections.take(request.socket, response, () => {
        response.setHeader('x-content-type-options', 'nosniff')
        response.setHeader('x-request-id', request.id)
        // Node's parser drops what follows a request with Upgrade in the same packet, whether it is upgraded or not.
        if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
        answer(request, response)
      })
  }
  const answer = inTurn((request, response) => {
    try {
      admit(request)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return void refuse(request, response, refusalOf(error))
    }
    // HEAD is answered as GET, whose body node leaves out (RFC 9110 section 9.3.2).
    if (request.method === 'HEAD') asGet(request)
    if (request.url === '/healthz') handle(request, response)
    else void started.then(() => handle(request, response))
  })
  const refuseExpectation = inTurn((request, response) => {
    const message = 'the only supported expectation is 100-continue'
    void refuse(request, response, { status: 417, code: 'invalid_request', message })
  })
  const server = createServer({
    // Bodies and streams have limits of their own; this timeout is for heads.
    requestTimeout: 0,
    headersTimeout: HEAD_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // A missing Host is reported by admission, in the API's wording.
    requireHostHeader: false,
    IncomingMessage: Request,
    // One that is sent ahead, behind others, gets its turn as a plain request: node would forget the answers before it.
    shouldUpgradeCallback: (request) => asksForWebSocket(request) && connections.isIdle(request.socket),
  })
    .on('connection', (socket: Socket) => connections.opened(socket))
    .on('request', answer)
    // `100 Continue` is sent by the code that reads the body.
    .on('checkContinue', answer)
    .on('checkExpectation', refuseExpectation)
    // Keeps only what it needs of the error, which holds the bytes at fault, because earlier answers may take long.
    .on('clientError', ({ code, message }: NodeJS.ErrnoException, socket) =>
      connections.onInvalid(socket as Socket, () => refuseInvalid(code, message, socket)),
    )
  // Node before 24.9 does not ask: it would hand over every request with Upgrade, without its body.
  if ('shouldUpgradeCallback' in server) {
    server.on('upgrade', (request, socket, head) => answerUpgrade(request, socket as Socket, head, answer))
  }
  return server
}

/** Statuses for faults of node's parser; everything else is 400. */
const STATUS_OF_FAULT: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Answers an invalid request, if an answer can still be read. */
function refuseInvalid(fault: string | undefined, message: string, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy()
  const status = STATUS_OF_FAULT[fault ?? ''] ?? 400
  const text = errorText({
    status,
    code: 'invalid_request',
    message: `${STATUS_CODES[status]}: ${message}`,
  })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
  const timer = setTimeout(() => socket.destroy(), REFUSED_LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Starts to listen and returns the port. Throws `io_error` that says why it cannot. */
export async function listen(server: Server, address: ListenAddress): Promise<number> {
  try {
    server.listen({ host: address.host, port: address.port })
    await once(server, 'listening')
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? 'another program listens there'
        : messageOf(cause)
    throw new AppError(
      'io_error',
      `--listen ${formatAddress(address)}: ${why}; stop it or name another address`,
      { cause },
    )
  }
  return (server.address() as AddressInfo).port
}

/** Lets requests in progress finish, within a time limit. Streams have ended before. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await closed
  clearTimeout(timer)
}
