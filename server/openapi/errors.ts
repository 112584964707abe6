import { ERRORS, SECOND_FACTORS, statusOf, type ErrorCode } from '../errors.ts'
import type { Json } from './schemas.ts'

interface Explanation {
  when: string
  /** An example of a message. Programs rely on the code, so the wording may change. */
  message: string
}

const EXPLANATIONS: Record<ErrorCode, Explanation> = {
  invalid_request: {
    when: 'a path, query or body that breaks a rule; the message starts with the path of the field',
    message: 'instances: must be at most 32',
  },
  git_application_required: {
    when: 'the provider needs an application first: send client_id and client_secret',
    message: 'client_id: is required the first time',
  },
  git_authorization_rejected: {
    when: 'the git provider or remote refused the credentials',
    message: 'the provider refused the token',
  },
  git_provider_unavailable: {
    when: 'the git provider did not answer',
    message: 'the provider did not answer within 10 s',
  },
  git_remote_unreachable: {
    when: 'the git remote did not answer',
    message: 'git.example.com did not answer within 10 s',
  },
  unauthorized: {
    when: 'credentials are missing, wrong, revoked or expired',
    message: 'no valid credentials: send an API token as Authorization: Bearer, or sign in',
  },
  invalid_credentials: {
    when: 'a secret in the body is wrong',
    message: 'the e-mail address or the password is wrong',
  },
  session_required: {
    when: "an API token where only the dashboard's session is accepted",
    message: 'an API token cannot do this: sign in to the dashboard and do it there',
  },
  forbidden: {
    when: 'an API token that may not do this; the message says what it may do',
    message:
      'this needs a token that may change everything, and this token may read and deploy in the environment staging, and sees no secrets',
  },
  second_factor_required: {
    when: 'a second factor is set up: at sign-in it is missing (401); later the session must have shown one within the last 10 minutes (403); error.details.methods lists those that would do',
    message: 'a second factor is needed: send code, or sign in with a passkey',
  },
  cross_site_request: {
    when: "a request with the session cookie, or for a WebSocket, that came from another origin than the dashboard's",
    message: 'a change with the session cookie must come from this dashboard',
  },
  not_found: {
    when: 'what the path, query or body names does not exist',
    message: 'there is no service api in production',
  },
  method_not_allowed: {
    when: 'the path exists but not with this method; Allow lists the methods it has',
    message: 'this path has no PUT',
  },
  conflict: {
    when: 'the request conflicts with the current state',
    message: 'name: api is in use by service srv-4f1d0c9a7b3e5d2f6a80',
  },
  canceled: {
    when: 'the work of this request was canceled while it waited',
    message: 'the deploy was canceled',
  },
  precondition_failed: {
    when: 'If-Match or If-Unmodified-Since does not match the current content',
    message: 'If-Match or If-Unmodified-Since does not match the current content',
  },
  payload_too_large: {
    when: 'the body is larger than allowed',
    message: 'the body is larger than the 2 MiB allowed here',
  },
  range_not_satisfiable: {
    when: 'Range begins after the end; Content-Range has the size',
    message: 'the range begins after the end of the 1048576 bytes',
  },
  misdirected_request: {
    when: "the Host is not one of this server's names",
    message: "deploy.example.com is not one of this server's host names: add it with --allowed-hosts",
  },
  upgrade_required: {
    when: 'the path is a WebSocket, and the request did not ask for one of version 13',
    message: 'this is a WebSocket of version 13: ask for an upgrade',
  },
  too_many_attempts: {
    when: '10 sign-ins, or guesses at a password or a code by one session, failed within 5 minutes, or 50 codes within a day',
    message: '10 sign-ins failed within 5 minutes: try again in 240 seconds',
  },
  database_error: {
    when: 'the database failed; the server log has the cause',
    message: "the disk of the server's data is full: free some space",
  },
  io_error: {
    when: 'a file could not be read or written; the server log has the cause',
    message: 'the archive could not be stored: no space left on the disk',
  },
  build_failed: {
    when: 'a build that the request waited for failed',
    message: 'the build failed',
  },
  internal_error: {
    when: 'an internal error; the server log has the cause',
    message: 'internal error; see the server log',
  },
  runtime_error: {
    when: 'the container engine failed or is out of reach; what was saved is applied later',
    message: 'saved; not applied yet: the container engine does not answer',
  },
  service_unavailable: {
    when: 'the server is being upgraded, or has no room for the request at this moment; Retry-After says when to try again',
    message: 'the server has no room for this request at this moment: try again in 10 seconds',
  },
}

const FAULTS: Json = {
  type: 'array',
  description: 'All errors in a file that was sent, with their positions',
  items: {
    type: 'object',
    properties: {
      line: { type: 'integer' },
      column: { type: 'integer' },
      path: { type: 'string' },
      message: { type: 'string' },
    },
    required: ['line', 'column', 'path', 'message'],
    additionalProperties: false,
  },
}

const METHODS: Json = {
  type: 'object',
  description: 'The second factors that would do',
  properties: { methods: { type: 'array', items: { type: 'string', enum: SECOND_FACTORS } } },
  required: ['methods'],
  additionalProperties: false,
}

/** The schema of every error's body. */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  description: 'Why a request was refused. Programs rely on the code; the message is for people.',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS) },
        message: { type: 'string' },
        details: { anyOf: [FAULTS, METHODS] },
      },
      required: ['code', 'message'],
      additionalProperties: false,
    },
  },
  required: ['error'],
  additionalProperties: false,
}

/** One example of an error body for each code. */
export function errorExamples(codes: Iterable<ErrorCode>): Json {
  return Object.fromEntries(
    [...codes].map((code) => {
      const { when, message } = EXPLANATIONS[code]
      return [code, { summary: sentence(when), value: { error: { code, message } } }]
    }),
  )
}

/** The responses of an operation that answers these codes, one for each status. */
export function errorResponses(codes: readonly ErrorCode[]): Json {
  // What never answers `unauthorized` is for people who are not signed in yet.
  const atSignIn = !codes.includes('unauthorized')
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const status = statusOf(code, atSignIn)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [String(status), errorResponse(status, group)]),
  )
}

function errorResponse(status: number, codes: ErrorCode[]): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${EXPLANATIONS[code].when}`).join('\n\n'),
    ...headersOf(status),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

function headersOf(status: number): Json {
  const headers = HEADERS[status]
  return headers ? { headers } : {}
}

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds after which to try again',
    schema: { type: 'integer', examples: [10] },
  },
}

/** The headers of errors with a status. RFC 9110 section 15.5.2: a 401 must say how to authenticate. */
const HEADERS: Record<number, Json> = {
  401: {
    'WWW-Authenticate': {
      description: 'The authentication scheme that is required',
      schema: { type: 'string', examples: ['Bearer'] },
    },
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
