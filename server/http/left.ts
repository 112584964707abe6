import type { H3Event } from 'h3'
import { AppError } from '../errors.ts'

/** A signal that aborts when the client of a request has left, so that nobody waits for the answer any more. */
export function whenLeft({ node: { res } }: H3Event): AbortSignal {
  const left = new AbortController()
  res.once('close', () => left.abort(new AppError('canceled', 'the client did not wait for the answer')))
  return left.signal
}
