import type { IncomingMessage } from 'node:http'

const heads = new WeakSet<IncomingMessage>()

/** Handles HEAD as GET; node leaves the body out of the answer (RFC 9110 section 9.3.2). */
export function asGet(request: IncomingMessage): void {
  heads.add(request)
  request.method = 'GET'
}

/** Whether a request came as HEAD. A stream then sends only its headers. */
export function isHead(request: IncomingMessage): boolean {
  return heads.has(request)
}
