import type { H3Event } from 'h3'
import { bearerToken } from './auth.ts'
import { readText } from './body.ts'
import { leftSignal } from './event-stream.ts'
import { requestOwn, type OwnAnswer } from './own-requests.ts'

/** What a call of the API takes besides its method and path. */
interface CallOptions {
  query?: Record<string, string | number | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** A POST in a protocol of its own, and how it reaches the API with the caller's own token. */
export interface Posted {
  headers: Record<string, string>
  body: string
  /** Aborts when the client has left or the server stops. */
  signal: AbortSignal
  /** `path` is below `/api/v1`. */
  call(method: string, path: string, options?: CallOptions): Promise<OwnAnswer>
}

/** Reads a POST that was admitted by a token. Throws `payload_too_large` or `invalid_request`. */
export async function readPosted(event: H3Event): Promise<Posted> {
  const token = bearerToken(event)
  if (token === undefined) throw new TypeError('the endpoint does not ask for a token')
  const left = leftSignal(event)
  return {
    headers: protocolHeaders(event),
    body: await readText(event),
    signal: left,
    call: (method, path, { query = {}, body, signal = left } = {}) =>
      requestOwn({
        method,
        path: `/api/v1${path}${queryText(query)}`,
        token,
        cause: event.node.req,
        body,
        signal,
      }),
  }
}

/** What a protocol may look at: not the credentials. */
function protocolHeaders({ node: { req } }: H3Event): Record<string, string> {
  const given = Object.entries(req.headers).filter(([name]) => /^(?:accept|content-type|mcp-.*)$/.test(name))
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

function queryText(query: NonNullable<CallOptions['query']>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
