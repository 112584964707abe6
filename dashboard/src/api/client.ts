import type { Routes } from './routes.ts'

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

/** An answer of the server that is not a success, or (code `unreachable`) no answer at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The error code; programs rely on it, `message` is for people. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

let onSignedOut: () => void = () => {}

/** Registers what happens when the server says that the session ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
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
  return (response.status === 204 ? undefined : await response.json()) as Routes[K]['reply']
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

/** fetch that throws ApiError for everything but a success. An abort stays an AbortError. */
export async function request(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(
      0,
      'unreachable',
      'The server does not answer. Check that it runs and that you can reach it.',
    )
  }
  if (response.ok) return response
  throw failed(response.status, await response.text().catch(() => ''))
}

/** The error of a refused request; also tells that the session ended when that is what it says. */
export function failed(status: number, body: string): ApiError {
  const error = parseProblem(status, body)
  if (error.status === 401 && error.code === 'unauthorized') onSignedOut()
  return error
}

function parseProblem(status: number, body: string): ApiError {
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } }
    return new ApiError(status, error.code, error.message)
  } catch {
    return new ApiError(status, 'unknown', `The server answered with status ${status} and no explanation.`)
  }
}

/** What to show for anything that was thrown. */
export function problemText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
