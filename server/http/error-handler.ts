import { STATUS_CODES } from 'node:http'
import { send, setResponseHeader, setResponseStatus, type H3Error, type H3Event } from 'h3'
import { AppError, ERRORS, type ErrorCode } from '../errors.ts'
import { logger } from '../log.ts'

const log = logger('http')

/** Codes for what h3 itself refuses. */
const CODE_OF_STATUS: Record<number, ErrorCode> = {
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
}

/** Every failure leaves as `{error: {code, message}}`; only an AppError chooses its own words. */
export default function handleError(error: H3Error, event: H3Event): Promise<void> | undefined {
  const known = error.cause instanceof AppError ? error.cause : undefined
  const status = known ? ERRORS[known.code] : error.unhandled ? 500 : error.statusCode
  const code = known?.code ?? CODE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : 'internal_error')
  if (status >= 500 && code !== 'runtime_error') {
    const cause = known?.cause ?? error.cause ?? error
    log.error(`${event.method} ${event.path.split('?')[0]} failed`, { code, error: String((cause as Error).stack ?? cause) })
  }
  if (event.handled || event.node.res.headersSent) {
    event.node.res.destroy()
    return undefined
  }
  const message = known?.message ?? (status < 500 ? (STATUS_CODES[status] ?? 'Refused') : 'internal error; see the server log')
  setResponseStatus(event, status, STATUS_CODES[status])
  setResponseHeader(event, 'content-type', 'application/json')
  setResponseHeader(event, 'cache-control', 'no-store')
  closeUnreadBody(event)
  return send(event, JSON.stringify({ error: { code, message } }))
}

/** How much of a refused body is read and thrown away, so that a client that is still sending reads the answer. */
const LINGER_BYTES = 64 * 1024 * 1024
const LINGER_MS = 5_000

/**
 * Closing a socket with unread bytes resets it, and the client never sees the answer (RFC 9112 section 9.6): the rest of
 * the body is drained for a while first.
 */
function closeUnreadBody(event: H3Event): void {
  const { req, res } = event.node
  if (req.complete) return
  res.setHeader('connection', 'close')
  let drained = 0
  req.on('data', (chunk: Buffer) => {
    drained += chunk.length
    if (drained > LINGER_BYTES) req.destroy()
  })
  req.on('error', () => {})
  req.resume()
  const timer = setTimeout(() => req.destroy(), LINGER_MS)
  req.once('close', () => clearTimeout(timer))
}
