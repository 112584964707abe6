import { hearTime } from './clock.ts'
import { connection } from './connection.ts'
import { plainText, sentence } from './plain-text.ts'
import type { Routes } from './routes.ts'
import type { FaultDetail, SecondFactor } from './types.ts'

export const API_BASE = '/api/v1'

type Key = keyof Routes
type Params<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : unknown
type Input<K extends Key> = Params<K> &
  (Routes[K] extends { query: infer Query } ? { query?: Query } : unknown) &
  (Routes[K] extends { body: infer Body } ? { body: Body } : unknown)
type Arguments<T> = object extends T ? [input?: T & Signal] : [input: T & Signal]

interface Signal {
  signal?: AbortSignal
}

interface AnyInput extends Signal {
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  [parameter: string]: unknown
}

/** A response that is not a success, or (code `unreachable`) no complete response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The error code; programs rely on it, `message` is for people. */
  readonly code: string
  /** Every error in a file that was sent, with its position. */
  readonly details: readonly FaultDetail[]
  /** The second factors that would do, when one is needed. */
  readonly methods: readonly SecondFactor[]

  constructor(status: number, code: string, message: string, details: ErrorDetails = []) {
    super(message)
    this.status = status
    this.code = code
    this.details = 'methods' in details ? [] : details
    this.methods = 'methods' in details ? details.methods : []
  }
}

/** What an error says beyond its code. */
type ErrorDetails = readonly FaultDetail[] | { methods: readonly SecondFactor[] }

let renewSession: () => Promise<boolean> = () => Promise.resolve(false)

/**
 * Registers what to do when the server says that the session ended; it resolves to whether there is a session again.
 */
export function whenSignedOut(renew: () => Promise<boolean>): void {
  renewSession = renew
}

let verifySession: (methods: readonly SecondFactor[]) => Promise<boolean> = () => Promise.resolve(false)

/**
 * Registers what to do when something needs a second factor; it resolves to whether the session has shown one.
 */
export function whenUnverified(verify: typeof verifySession): void {
  verifySession = verify
}

/** Calls one route of the server; the key names its method and path. Throws ApiError. */
export async function api<K extends Key>(
  key: K,
  ...[input]: Arguments<Input<K>>
): Promise<Routes[K]['reply']> {
  const { query, body, signal, ...parameters } = { ...input } as AnyInput
  const [method, template] = key.split(' ') as [string, string]
  const response = await request(apiUrl(template, parameters, query), {
    method,
    signal,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  })
  return (response.status === 204 ? undefined : await readJson(response)) as Routes[K]['reply']
}

/** Address of a route with its parameters and its query; values that are undefined are left out. */
export function apiUrl(
  template: string,
  parameters: Record<string, unknown>,
  query: AnyInput['query'] = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return `${API_BASE}${path}${search.size > 0 ? `?${search}` : ''}`
}

/**
 * fetch that throws ApiError for anything but a success. An abort stays an AbortError. A request that failed because
 * the session ended is sent again once the user has signed in again, and one that needs a second factor once it was shown.
 */
export async function request(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw unreachable()
  })
  hearTime(response.headers.get('date'))
  if (response.ok) {
    connection.answered()
    return response
  }
  const error = parseProblem(response.status, await response.text().catch(() => ''))
  if (isSessionEnd(error) && (await renewSession())) return request(url, init)
  if (isUnverified(error) && (await verifySession(error.methods))) return request(url, init)
  throw error
}

/** The JSON of a successful response. Throws ApiError as `readText` and `parseAnswer` do. */
export async function readJson(response: Response): Promise<unknown> {
  return parseAnswer(response.status, await readText(response))
}

/**
 * The text of a successful response. Throws ApiError when it is cut off, and when it is an HTML page: something else
 * answered instead of the server. An abort stays an AbortError.
 */
export async function readText(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/html')) throw foreign(response.status)
  return await response.text().catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error
    throw new ApiError(0, 'unreachable', 'The connection to the server was lost. Reload the page.')
  })
}

/** Parses the text of a successful response. Throws ApiError when something else answered instead of the server. */
export function parseAnswer(status: number, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw foreign(status)
  }
}

function foreign(status: number): ApiError {
  return new ApiError(
    status,
    'unknown',
    'Something between you and the server answered instead, such as a network that requires a sign-in. Reload the page.',
  )
}

/** The error of a request that was refused outside of `request`; also handles a session that ended. */
export function failed(status: number, body: string): ApiError {
  const error = parseProblem(status, body)
  if (isSessionEnd(error)) void renewSession()
  return error
}

/** The error of a request that got no response. */
function unreachable(): ApiError {
  connection.failed()
  return new ApiError(
    0,
    'unreachable',
    'The server does not answer. Check that it is running and that you can reach it.',
  )
}

function isSessionEnd({ status, code }: ApiError): boolean {
  return status === 401 && code === 'unauthorized'
}

/** Whether a signed-in session lacks a second factor. At sign-in, where the form asks for it, the status is 401. */
function isUnverified({ status, code }: ApiError): boolean {
  return status === 403 && code === 'second_factor_required'
}

/** What a proxy answers when the server behind it does not. */
const PROXY_STATUSES = [502, 503, 504]

function parseProblem(status: number, body: string): ApiError {
  try {
    const { error } = JSON.parse(body) as {
      error: { code: string; message: string; details?: ErrorDetails }
    }
    connection.answered()
    return new ApiError(status, error.code, plainText(error.message), error.details)
  } catch {
    if (PROXY_STATUSES.includes(status)) return unreachable()
    return new ApiError(status, 'unknown', `The server answered with status ${status} and no explanation.`)
  }
}

/** What to show for anything that was thrown. */
export function problemText(error: unknown): string {
  return sentence(plainText(error instanceof Error ? error.message : String(error)))
}
