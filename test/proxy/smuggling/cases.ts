/** Bytes that are refused before any of them is sent on: what is wrong, the status, and the bytes. */
export type Refused = readonly [what: string, status: number, bytes: string]

/** Chunks that are wrong: the head has been sent on when that shows, the end of the body never is. */
export type BrokenChunks = readonly [what: string, body: string]

/** Bytes that look like an attack or a mistake and still have one meaning. */
export interface Served {
  what: string
  bytes: string
  /** What the upstream reads: method, target and body. */
  read: readonly (readonly [line: string, body: string])[]
  /** Does not reach the upstream. */
  gone?: RegExp
  /** Reaches the upstream as it is. */
  kept?: RegExp
  /** The connection ends after the answer. */
  closes?: boolean
}

export const GET = 'GET / HTTP/1.1'
export const POST = 'POST / HTTP/1.1'
/** The host that the stand serves. */
export const H = 'Host: app.test'
export const CHUNKED = 'Transfer-Encoding: chunked'
/** The request that must stay what it is: bytes of another one's body, or a separate request. */
export const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${H}\r\n\r\n`

/** A GET with these fields after Host. */
export function get(...fields: string[]): string {
  return [GET, H, ...fields, '', ''].join('\r\n')
}

/** A POST with these fields after Host and a body. */
export function post(fields: readonly string[], body: string): string {
  return [POST, H, ...fields, '', body].join('\r\n')
}

/** A visible name for a byte. */
export function byteName(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`
}
