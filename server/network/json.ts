import { createFetch } from 'ofetch'
import { fetch, Headers, type Dispatcher } from 'undici'
import { parsedJson } from '../text/parsed-json.ts'
import { VERSION } from '../version.ts'
import { textWithin } from './answers.ts'

/** A request for JSON to another server. */
export interface JsonQuestion {
  method?: 'GET' | 'POST' | 'DELETE'
  query?: Record<string, string | number>
  headers?: Record<string, string>
  /** An object is sent as JSON, parameters as a form. */
  body?: Record<string, unknown> | URLSearchParams
}

/** How a request is sent, and how much is read of its answer. */
interface Bounds {
  /** Decides where it may lead. */
  dispatcher: Dispatcher
  /** Ends the request and the reading of its answer. */
  signal: AbortSignal
  maxBytes: number
}

export interface JsonAnswer {
  status: number
  headers: Headers
  /** Null when it is empty; undefined when it is not JSON, or too long. */
  body: unknown
  isTooLong: boolean
}

const request = createFetch({ fetch, Headers, AbortController })

/**
 * Asks another server for JSON. Resolves with the answer whatever its status; redirects are not followed. Throws
 * ForbiddenPlace for an address that `dispatcher` does not permit.
 */
export async function askJson(
  url: string,
  { headers, ...question }: JsonQuestion,
  { maxBytes, ...bounds }: Bounds,
): Promise<JsonAnswer> {
  try {
    const response = await request.raw(url, {
      ...question,
      ...bounds,
      headers: { accept: 'application/json', 'user-agent': `deployer/${VERSION}`, ...headers },
      responseType: 'stream',
      redirect: 'manual',
      ignoreResponseError: true,
      retry: 0,
    })
    const text = await textWithin(response.body ?? [], maxBytes)
    const body = text === '' ? null : parsedJson(text ?? '')
    return { status: response.status, headers: response.headers, body, isTooLong: text === null }
  } catch (error) {
    throw reasonOf(error)
  }
}

/** Why a request failed: both ofetch and undici's fetch wrap that in an error that does not say it. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? reasonOf(error.cause) : error
}
