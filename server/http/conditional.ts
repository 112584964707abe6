import type { IncomingMessage } from 'node:http'
import { setResponseHeaders, setResponseStatus, type H3Event } from 'h3'
import { precondition, type Conditions } from '#proxy/sites/conditions.ts'

/** What a request makes its answer depend on. */
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
 * Names what an answer holds, whose form follows from what the client can decode, and answers 304 to who has it already.
 * False when it is to be sent.
 */
export function isKnown(event: H3Event, etag: string): boolean {
  const { req, res } = event.node
  setResponseHeaders(event, { etag, vary: 'accept-encoding' })
  // By its tag alone: what stands for a page or a file of the build has no date of its own.
  const undated = { ...conditionsOf(req), ifMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null }
  if (precondition(undated, { etag, modifiedAt: 0 }) !== 304) return false
  setResponseStatus(event, 304)
  res.end()
  return true
}
