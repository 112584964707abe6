import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import type { H3Error, H3Event } from 'h3'
import { AppError, ERRORS, type ErrorCode } from '../errors.ts'
import { logger } from '../log.ts'
import { refuse } from './refuse.ts'
import { refusalOfUnmatched } from './unmatched.ts'

const log = logger('http')

/** Codes for what h3 itself refuses. */
const CODE_OF_STATUS: Record<number, ErrorCode> = {
  400: 'invalid_request',
  413: 'payload_too_large',
}

/** Every failure leaves as `{error: {code, message}}`; only an AppError chooses its own words. */
export default async function handleError(error: H3Error, event: H3Event): Promise<void> {
  const { req, res } = event.node
  const path = event.path.split('?')[0]
  if (req.readableAborted && isOfClient(error.cause)) {
    log.info(`${event.method} ${path} was cut off by its client`)
    // Nobody reads this; it tells h3 that nothing is left to say.
    res.end()
    return
  }
  const known = error.cause instanceof AppError ? error.cause : await refusal(error, event)
  const status = known ? ERRORS[known.code] : error.unhandled ? 500 : error.statusCode
  const code =
    known?.code ?? CODE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : codeOfFault(error.cause))
  // A 502 is told to who asked; what is wrong there is not the server's.
  if (status === 500) {
    const cause = known?.cause ?? error.cause ?? error
    log.error(`${event.method} ${path} failed`, {
      code,
      error: cause instanceof Error ? cause.stack : inspect(cause),
    })
  }
  if (event.handled || res.headersSent) {
    res.destroy()
    return
  }
  const message =
    known?.message ??
    (status < 500 ? (STATUS_CODES[status] ?? 'Refused') : 'internal error; see the server log')
  const { retryAfterSeconds, details } = known ?? {}
  await refuse(req, res, { status, code, message, retryAfterSeconds, details })
}

/** Whether a request failed because its client left in the middle of its body. */
function isOfClient(cause: unknown): boolean {
  return cause instanceof AppError || (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET'
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
