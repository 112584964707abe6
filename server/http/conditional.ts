import type { IncomingMessage } from 'node:http'
import { setResponseHeaders, setResponseStatus, type H3Event } from 'h3'
import { precondition, type Conditions } from '#proxy/sites/conditions.ts'

/** The conditions in a request's headers. */
export function conditionsOf({ headers }: IncomingMessage): Conditions {
  return {
    ifMatch: headers['if-match'] ?? null,
    ifNoneMatch: headers['if-none-match'] ?? null,
    ifModifiedSince: headers['if-modified-since'] ?? null,
    ifUnmodifiedSince: headers['if-unmodified-since'] ?? null,
    ifRange: headers['if-range']?.toString() ?? null,
    range: headers.range ?? null,
  }
}

/**
 * Sets the headers of an answer that is cached by its tag, and answers 304 when the client has it already. Returns false
 * when the answer must be sent.
 */
export function isKnown(event: H3Event, etag: string): boolean {
  const { req, res } = event.node
  setResponseHeaders(event, { etag, vary: 'accept-encoding' })
  // Only by its tag: a page or a file of the build has no date of its own.
  const undated = { ...conditionsOf(req), ifMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null }
  if (precondition(undated, { etag, modifiedAt: 0 }) !== 304) return false
  setResponseStatus(event, 304)
  res.end()
  return true
}
