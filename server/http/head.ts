import type { IncomingMessage } from 'node:http'

const heads = new WeakSet<IncomingMessage>()

/** Lets a HEAD request take the way of a GET; node leaves the body of its answer out (RFC 9110 section 9.3.2). */
export function asGet(request: IncomingMessage): void {
  heads.add(request)
  request.method = 'GET'
}

/** Whether a request came as HEAD: a stream answers it with its head alone. */
export function isHead(request: IncomingMessage): boolean {
  return heads.has(request)
}
