import type { TargetState } from '../protocol.ts'

/** An answer that the data plane gives itself, not an upstream. */
export interface Answer {
  status: number
  reason: string
  /** The code in its JSON form. */
  code: string
  title: string
  text: string
  /** Whether the connection ends after it: so after all refusals but 404, 405 and 417. */
  closes: boolean
  /** Additional header lines, each with its CRLF. */
  headers: string
  /** After how many seconds the client may try again. */
  retrySeconds?: number
  /** The whole body, instead of a page. */
  content?: string
  /** HTML, instead of the page made of title and text. */
  page?: string
}

/** Returns an answer of the data plane's own; its title is the reason phrase unless `more` has one. */
export function answer(
  status: number,
  reason: string,
  code: string,
  text: string,
  more: Partial<Answer> = {},
): Answer {
  return { status, reason, code, title: reason, text, closes: false, headers: '', ...more }
}

const REFUSED = { closes: true }
const RETRY = { retrySeconds: 5 }

const REFUSALS: ReadonlyMap<number, Answer> = new Map(
  [
    answer(400, 'Bad Request', 'invalid_request', 'The request is malformed or ambiguous.', REFUSED),
    answer(405, 'Method Not Allowed', 'method_not_allowed', 'CONNECT and TRACE are not supported.', {
      headers: 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n',
    }),
    answer(408, 'Request Timeout', 'request_timeout', 'The request did not arrive in time.', REFUSED),
    answer(414, 'URI Too Long', 'uri_too_long', 'The request line is longer than 8 KiB.', REFUSED),
    answer(
      417,
      'Expectation Failed',
      'expectation_failed',
      'The only supported expectation is 100-continue.',
    ),
    answer(
      421,
      'Misdirected Request',
      'misdirected_request',
      'This connection belongs to another host: open a new one for this host.',
    ),
    answer(
      431,
      'Request Header Fields Too Large',
      'head_too_large',
      'The request head is larger than 64 KiB or has more than 100 fields.',
      REFUSED,
    ),
    answer(
      501,
      'Not Implemented',
      'not_implemented',
      'The method or transfer coding is not supported.',
      REFUSED,
    ),
    answer(505, 'HTTP Version Not Supported', 'version_not_supported', 'Use HTTP/1.1.', REFUSED),
  ].map((refusal) => [refusal.status, refusal]),
)

/** Returns the refusal of a request by its status. */
export function refusal(status: number): Answer {
  return REFUSALS.get(status) ?? REFUSALS.get(400)!
}

export const NO_SUCH_HOST = answer(
  404,
  'Not Found',
  'not_found',
  'No service is available at this address.',
  {
    title: 'Nothing is served here',
  },
)
export const NO_SUCH_PAGE = answer(
  404,
  'Not Found',
  'not_found',
  'This site does not have a page at this address.',
  {
    title: 'Page not found',
  },
)
export const SITE_METHODS = answer(
  405,
  'Method Not Allowed',
  'method_not_allowed',
  'This site is read-only.',
  {
    headers: 'Allow: GET, HEAD\r\n',
  },
)
export const NOT_READABLE = answer(
  500,
  'Internal Server Error',
  'site_not_readable',
  'A file of this site could not be read.',
  {
    title: 'The site cannot be read',
  },
)
export const BAD_GATEWAY = answer(
  502,
  'Bad Gateway',
  'bad_gateway',
  'The service did not return a valid response.',
  {
    title: 'The service is not responding',
  },
)
export const GATEWAY_TIMEOUT = answer(
  504,
  'Gateway Timeout',
  'gateway_timeout',
  'It did not respond in time.',
  {
    title: 'The service took too long',
  },
)

const UNAVAILABLE: Record<Exclude<TargetState, 'serving'>, Answer> = {
  suspended: unavailable('This service is suspended', 'Its owner has stopped it.'),
  not_deployed: unavailable('This service is not deployed yet', 'It has no deploys so far.'),
  starting: unavailable(
    'This service is starting',
    'It does not accept requests yet; try again in a moment.',
    RETRY,
  ),
  failed: unavailable('This service is not deployed', 'Its first deploy failed.'),
  scaled_to_zero: unavailable('This service is scaled to 0', 'It is set to run no instances.'),
}

function unavailable(title: string, text: string, more: Partial<Answer> = {}): Answer {
  return answer(503, 'Service Unavailable', 'service_unavailable', text, { title, ...more })
}

/** Returns the answer for a target that does not serve; a serving target without an instance in rotation is starting one. */
export function unavailableAnswer(state: TargetState): Answer {
  return state === 'serving' ? BAD_GATEWAY : UNAVAILABLE[state]
}
