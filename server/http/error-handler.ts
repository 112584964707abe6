import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import { send, setResponseHeader, setResponseStatus, type H3Error, type H3Event } from 'h3'
import { AppError, ERRORS, type ErrorCode } from '../errors.ts'
import { logger } from '../log.ts'
import { refusalOfUnmatched } from './unmatched.ts'

const log = logger('http')

/** Codes for what h3 itself refuses. */
const CODE_OF_STATUS: Record<number, ErrorCode> = {
  400: 'invalid_request',
  413: 'payload_too_large',
}

/** Every failure leaves as `{error: {code, message}}`; only an AppError chooses its own words. */
export default async function handleError(error: H3Error, event: H3Event): Promise<void> {
  if (event.node.req.readableAborted) return
  const known = error.cause instanceof AppError ? error.cause : await refusal(error, event)
  const status = known ? ERRORS[known.code] : error.unhandled ? 500 : error.statusCode
  const code =
    known?.code ?? CODE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : codeOfFault(error.cause))
  // A 502 is told to who asked; what is wrong there is not the server's.
  if (status === 500) {
    const cause = known?.cause ?? error.cause ?? error
    log.error(`${event.method} ${event.path.split('?')[0]} failed`, {
      code,
      error: cause instanceof Error ? cause.stack : inspect(cause),
    })
  }
  if (event.handled || event.node.res.headersSent) {
    event.node.res.destroy()
    return
  }
  const message =
    known?.message ??
    (status < 500 ? (STATUS_CODES[status] ?? 'Refused') : 'internal error; see the server log')
  setResponseStatus(event, status, STATUS_CODES[status])
  setResponseHeader(event, 'content-type', 'application/json')
  setResponseHeader(event, 'cache-control', 'no-store')
  if (known?.retryAfterSeconds !== undefined) setResponseHeader(event, 'retry-after', known.retryAfterSeconds)
  const text = JSON.stringify({ error: { code, message } })
  if (event.node.req.complete) await send(event, text)
  else await sendDraining(event, text)
}

/** The code of a fault of the server's own, by what raised it. */
function codeOfFault(cause: unknown): ErrorCode {
  const { code } = (cause ?? {}) as { code?: unknown }
  if (code === 'ERR_SQLITE_ERROR') return 'database_error'
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? 'io_error' : 'internal_error'
}

/** What h3's router refuses, in the API's words; it does not know credentials, `Allow` and the dashboard's catch-all. */
async function refusal(error: H3Error, event: H3Event): Promise<AppError | undefined> {
  const isUnmatched = !error.unhandled && (error.statusCode === 404 || error.statusCode === 405)
  return isUnmatched ? refusalOfUnmatched(event) : undefined
}

/** How much of a refused body is read and thrown away, so that a client that is still sending reads the answer. */
const LINGER_BYTES = 64 * 1024 * 1024
const LINGER_MS = 5_000

/**
 * Sends a whole answer while the request's body is still coming, and ends only when that has come or the client has
 * left: node closes the socket at the answer's end, and closing one with unread bytes resets it, so that the client
 * never sees the answer (RFC 9112 section 9.6).
 */
async function sendDraining(event: H3Event, text: string): Promise<void> {
  const { req, res } = event.node
  res.setHeader('connection', 'close')
  res.setHeader('content-length', Buffer.byteLength(text))
  res.write(text)
  let drained = 0
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS)
    res.once('close', () => clearTimeout(timer))
    req.on('data', (chunk: Buffer) => {
      drained += chunk.length
      if (drained > LINGER_BYTES) resolve()
    })
    for (const end of ['end', 'error', 'close'] as const) req.on(end, () => resolve())
    req.resume()
  })
  res.end()
}
