import type { IncomingMessage } from 'node:http'
import { EXIT, Fault } from '../fault.ts'

/** A longer `Retry-After` is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000
/** An answer that is not a stream or a file is shorter. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export type Query = Record<string, string | number | boolean | null | undefined>

/** What the server has outside of its API. */
const AT_ROOT = new Set(['/cli.tgz', '/install-cli'])

/** A path as it is asked for, from the root, with its query; what is null or undefined is left out. */
export function pathOf(path: string, query: Query = {}): string {
  const url = new URL(path.startsWith('/api/') || AT_ROOT.has(path) ? path : `/api/v1${path}`, 'http://api')
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
  return url.pathname + url.search
}

/** The exit code for an answer's status. */
export function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.notSignedIn
  if (status === 404) return EXIT.notFound
  if (status === 409) return EXIT.conflict
  if ([421, 429, 502, 503].includes(status)) return EXIT.noConnection
  return status >= 500 ? EXIT.serverFault : EXIT.wrongWords
}

/** How long the server asks to wait before the same request; null if it does not, or too long. */
export function retryAfterMs({ statusCode, headers }: IncomingMessage): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null
  const milliseconds = Number(headers['retry-after'] ?? NaN) * 1_000
  return milliseconds >= 0 && milliseconds <= MAX_RETRY_AFTER_MS ? milliseconds : null
}

/** The whole body of an answer. Throws Fault for one that is too long. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > MAX_ANSWER_BYTES) throw new Fault(EXIT.noConnection, 'the answer of the server is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** A text as JSON; undefined if it is not. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
