import { answer, type Answer } from '../pages/answers.ts'
import type { Edge } from '../protocol.ts'

/** The answers that the edge of a service gives itself. */

export const FORBIDDEN = answer(
  403,
  'Forbidden',
  'forbidden',
  'Your address is not among those that may use this service.',
  { title: 'Not from this address' },
)

export const UNAUTHORIZED = answer(
  401,
  'Unauthorized',
  'unauthorized',
  'This service needs a user name and a password.',
  {
    title: 'Sign in to continue',
    // The realm is the same for all, so that browsers know one password for each host.
    headers: 'WWW-Authenticate: Basic realm="Restricted", charset="UTF-8"\r\n',
  },
)

export const BODY_TOO_LARGE = answer(
  413,
  'Content Too Large',
  'body_too_large',
  'The request body is larger than this service accepts.',
)

/** More passwords are to be checked than the worker can check soon. */
export const BUSY = answer(
  503,
  'Service Unavailable',
  'service_unavailable',
  'Too many passwords are being checked; try again in a moment.',
  { retrySeconds: 5 },
)

const REASONS: Record<number, string> = {
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
}

export function movedAnswer(status: number, location: string): Answer {
  return answer(status, REASONS[status]!, 'moved', 'It is served at another address.', {
    title: 'This address has moved',
    headers: `Location: ${location}\r\n`,
  })
}

export function maintenanceAnswer(maintenance: NonNullable<Edge['maintenance']>): Answer {
  const { message, page, retry_after_seconds } = maintenance
  return answer(
    503,
    'Service Unavailable',
    'service_unavailable',
    message ?? 'It is being worked on; try again later.',
    { title: 'This service is under maintenance', retrySeconds: retry_after_seconds, page },
  )
}

/** `headers` are lines about the limit. */
export function tooManyAnswer(what: string, retrySeconds: number, headers = ''): Answer {
  return answer(
    429,
    'Too Many Requests',
    'too_many_requests',
    `Too many ${what} came from your address; try again in ${retrySeconds} seconds.`,
    { title: 'Too many requests', retrySeconds, headers },
  )
}
