import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import type { H3Error, H3Event } from 'h3'
import { AppError, explainFullDisk, type ErrorCode } from '../errors.ts'
import { logger } from '../log.ts'
import { refusalOf, refuse } from './refuse.ts'
import type { Request } from './request.ts'
import { refusalOfUnmatched } from './unmatched.ts'

const log = logger('http')

/** Codes for errors that h3 itself raises. */
const CODE_OF_STATUS: Record<number, ErrorCode> = {
  400: 'invalid_request',
  413: 'payload_too_large',
}

/** Answers every failure with `{error: {code, message}}`. Only the message of an AppError reaches the client. */
export default async function handleError(error: H3Error, event: H3Event): Promise<void> {
  const { req, res } = event.node
  const path = event.path.split('?')[0]
  // What is aborted because its client has left may end with the abort itself, such as the opening of a log.
  const isLeft = res.closed && (error.cause as Error | undefined)?.name === 'AbortError'
  if (isLeft || (req.readableAborted && isOfClient(error.cause))) {
    log.info(`${event.method} ${path} was aborted by the client`)
    // Nobody reads this; it tells h3 that the request is handled.
    res.end()
    return
  }
  const cause = explainFullDisk(error.cause)
  const known = cause instanceof AppError ? cause : await refusal(error, event)
  const status = known ? known.httpStatus : error.unhandled ? 500 : error.statusCode
  const code =
    known?.code ?? CODE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : codeOfFault(error.cause))
  // A 502 is only reported to the caller: what is wrong is not on this server.
  if (status === 500) {
    const reason = known?.cause ?? error.cause ?? error
    log.error(`${event.method} ${path} failed`, {
      code,
      request: (req as Request).id,
      error: reason instanceof Error ? reason.stack : inspect(reason),
    })
  }
  if (event.handled || res.headersSent) {
    res.destroy()
    return
  }
  const message =
    known?.message ??
    (status < 500 ? (STATUS_CODES[status] ?? 'Refused') : 'internal error; see the server log')
  await refuse(req, res, { ...(known && refusalOf(known)), status, code, message })
}

/** Whether a request failed because its client left while sending the body. */
function isOfClient(cause: unknown): boolean {
  return cause instanceof AppError || (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET'
}

/** The code for an internal error, by what raised it. */
function codeOfFault(cause: unknown): ErrorCode {
  const { code } = (cause ?? {}) as { code?: unknown }
  if (code === 'ERR_SQLITE_ERROR') return 'database_error'
  return typeof code === 'string' && /^E[A-Z]+$/.test(code) ? 'io_error' : 'internal_error'
}

/**
 * Converts what h3's router refuses to the API's errors. The router knows neither credentials, nor `Allow`, nor the
 * dashboard's catch-all.
 */
async function refusal(error: H3Error, event: H3Event): Promise<AppError | undefined> {
  const isUnmatched = !error.unhandled && (error.statusCode === 404 || error.statusCode === 405)
  return isUnmatched ? refusalOfUnmatched(event) : undefined
}
