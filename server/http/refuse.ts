import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AppError, ErrorCode, FaultDetail, SecondFactor } from '../errors.ts'

/** An error as a client sees it. */
export interface Refusal {
  status: number
  code: ErrorCode
  message: string
  retryAfterSeconds?: number | undefined
  /** What programs can act on beyond the code. */
  details?: readonly FaultDetail[] | { methods: readonly SecondFactor[] } | undefined
}

/** The refusal for an error of the table. */
export function refusalOf({
  httpStatus,
  code,
  message,
  retryAfterSeconds,
  details,
  methods,
}: AppError): Refusal {
  return {
    status: httpStatus,
    code,
    message,
    retryAfterSeconds,
    details: details ?? (methods && { methods }),
  }
}

/** The body of every error. */
export function errorText({ code, message, details }: Refusal): string {
  return JSON.stringify({ error: { code, message, details } })
}

/** Answers a request with an error, in a way that the client reads it even while it is still sending its body. */
export async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
): Promise<void> {
  const text = errorText(refusal)
  response.statusCode = refusal.status
  response.statusMessage = STATUS_CODES[refusal.status] ?? ''
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.setHeader('cache-control', 'no-store')
  // RFC 9110 section 15.5.2: a 401 must say how to authenticate.
  if (refusal.status === 401) response.setHeader('www-authenticate', 'Bearer')
  if (refusal.retryAfterSeconds !== undefined) response.setHeader('retry-after', refusal.retryAfterSeconds)
  if (request.complete) response.end(text)
  else await endDraining(request, response, text)
}

/**
 * How much of the body of an answered request is read and discarded, so that a client that is still sending gets the answer.
 */
export const LINGER_BYTES = 64 * 1024 * 1024
/** How long it is read. */
export const LINGER_MS = 5_000

/**
 * Sends a complete answer while the request's body may still be arriving, and ends it only when all of the body has arrived
 * or the client has left. node closes the socket at the end of an answer, and closing one with unread bytes resets the
 * connection, so that the client never sees the answer (RFC 9112 section 9.6).
 */
async function endDraining(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
  response.setHeader('connection', 'close')
  response.write(text)
  let drained = 0
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS)
    response.once('close', () => clearTimeout(timer))
    request.on('data', (chunk: Buffer) => {
      drained += chunk.length
      if (drained > LINGER_BYTES) resolve()
    })
    for (const end of ['end', 'error', 'close'] as const) request.on(end, () => resolve())
    request.resume()
  })
  response.end()
}
