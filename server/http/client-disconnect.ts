import type { H3Event } from 'h3'
import { AppError } from '../errors.ts'

/** Returns a signal that aborts when the client of a request disconnects, so that nothing works on an unwanted answer. */
export function onClientDisconnect({ node: { res } }: H3Event): AbortSignal {
  const left = new AbortController()
  res.once('close', () => left.abort(new AppError('canceled', 'the client did not wait for the answer')))
  return left.signal
}
