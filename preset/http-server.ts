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
import type { ListenAddress } from '#server/options/values.ts'
import type { Options } from '#server/options/index.ts'

/** A client that takes longer to say what it wants holds a connection for nothing. */
const HEAD_TIMEOUT_MS = 30_000
/** Longer than load balancers keep theirs (60 s), so that they never write into one that is just closing. */
const IDLE_TIMEOUT_MS = 65_000
/** How often node looks for heads that take too long. */
const CHECK_INTERVAL_MS = 5_000
/** A client that was refused has read why by then; who goes on sending, and never closes, is cut off. */
const FAREWELL_MS = 5_000
/** What a client still sends after this is not waited for when the server stops. */
const CLOSE_WITHIN_MS = 2_000

/**
 * Node's server with `handle` behind the checks of a request's head. What comes before the daemon has `started` waits for
 * it, but for the probe of liveness.
 */
export function createHttpServer(options: Options, handle: RequestListener, started: Promise<void>): Server {
  const admit = admission(options)
  const connections = new Connections()
  const inTurn = (answer: RequestListener): RequestListener => {
    return (request, response) =>
      connections.take(request.socket, response, () => {
        response.setHeader('x-content-type-options', 'nosniff')
        // Nobody upgrades here, but node's parser drops what came in one piece behind a request that asks for it.
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
    const message = 'of what a request may expect only 100-continue is known here'
    void refuse(request, response, { status: 417, code: 'invalid_request', message })
  })
  return (
    createServer({
      // Bodies and streams have limits of their own; a head has this one.
      requestTimeout: 0,
      headersTimeout: HEAD_TIMEOUT_MS,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // Admission says so in the API's words.
      requireHostHeader: false,
      IncomingMessage: Request,
    })
      .on('connection', (socket: Socket) => connections.opened(socket))
      .on('request', answer)
      // Whether the body is wanted is told by who reads it.
      .on('checkContinue', answer)
      .on('checkExpectation', refuseExpectation)
      // The error itself, which holds the bytes at fault, is not kept for as long as the answers before last.
      .on('clientError', ({ code, message }: NodeJS.ErrnoException, socket) =>
        connections.spoiled(socket as Socket, () => refuseUnread(code, message, socket)),
      )
  )
}

/** Statuses of what node's parser refuses; everything else is 400. */
const STATUS_OF_FAULT: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Answers what is no request, as far as an answer can still be read. */
function refuseUnread(fault: string | undefined, message: string, socket: Duplex): void {
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
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Listens, and answers the port. Throws `io_error` that says why it cannot. */
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

/** Requests under way finish, but not for long; streams have ended before. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await closed
  clearTimeout(timer)
}
