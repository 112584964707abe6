import { ascii, latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import { crypto } from '../modules.ts'
import { answer, type Answer } from '../pages/answers.ts'
import { VERIFICATION_PATH, type RedirectStatus } from '../protocol.ts'
import type { Routes } from '../routes/routes.ts'
import type { Redirect } from '../routes/target-route.ts'

/** The beginning of requests that check whether a name leads to this server (RFC 8615). */
const WELL_KNOWN_REQUEST = ascii('GET /.well-known/')
/** RFC 8555 8.3. */
const CHALLENGE_PATH = '/.well-known/acme-challenge/'
/** This server's nonces have 32 characters; a much longer one is not ours. */
const NONCE = /^[0-9a-f]{1,64}$/
const HTTPS_PORT = 443
/** Their reason phrases, and what pages call them. */
const MOVED = 'This address has moved'
const ELSEWHERE = 'This address leads elsewhere'
const REDIRECTS: Record<RedirectStatus, [reason: string, title: string]> = {
  301: ['Moved Permanently', MOVED],
  302: ['Found', ELSEWHERE],
  303: ['See Other', ELSEWHERE],
  307: ['Temporary Redirect', ELSEWHERE],
  308: ['Permanent Redirect', MOVED],
}

/** Returns the target of the request whose copied head begins at `at`: path and query. */
export function pathOf(output: Buffer, at: number, head: Head): string {
  const text = latin1(output, at, head.outputEnd)
  const start = text.indexOf(' ') + 1
  return text.slice(start, text.indexOf(' ', start))
}

/**
 * Returns the path of the request whose copied head begins at `at` if it may ask for a proof that this is the right server.
 * Such requests are not redirected to TLS. Returns null for any other request.
 */
export function proofPath(output: Buffer, at: number, head: Head): string | null {
  for (let index = 0; index < WELL_KNOWN_REQUEST.length; index++) {
    if (output[at + index] !== WELL_KNOWN_REQUEST[index]) return null
  }
  const path = pathOf(output, at, head)
  return path.startsWith(CHALLENGE_PATH) || path.startsWith(VERIFICATION_PATH) ? path : null
}

/** Returns the proof for a certificate authority or the control plane, or null if this server has none. */
export function proofAnswer(path: string, routes: Routes): Answer | null {
  const proof = path.startsWith(CHALLENGE_PATH)
    ? routes.challenge(path.slice(CHALLENGE_PATH.length))
    : verification(path.slice(VERIFICATION_PATH.length), routes.verificationKey)
  return proof === undefined ? null : answer(200, 'OK', 'proof', '', { content: proof })
}

function verification(nonce: string, key: string): string | undefined {
  if (key === '' || !NONCE.test(nonce)) return undefined
  return crypto().createHmac('sha256', key).update(nonce).digest('hex')
}

/**
 * Redirects a client to the same address over TLS. With 308 it keeps method and body; 301 would let it drop them (RFC 9110
 * 15.4.9).
 */
export function secureRedirect(host: string, port: number, path: string): Answer {
  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  return redirectTo(`https://${authority}${pathIn(path)}`, 308, 'It is only served over HTTPS.')
}

/** Redirects a client where a target says: to the same path at another host, or to one address for all paths. */
export function targetRedirect({ url, status, keepsPath }: Redirect, path: string): Answer {
  return redirectTo(keepsPath ? `${url}${pathIn(path)}` : url, status, 'It is served at another host.')
}

/** What follows the origin: `OPTIONS *` is about the whole server. */
function pathIn(path: string): string {
  return path === '*' ? '/' : path
}

function redirectTo(location: string, status: RedirectStatus, text: string): Answer {
  const [reason, title] = REDIRECTS[status]
  const code = reason.toLowerCase().replaceAll(' ', '_')
  return answer(status, reason, code, text, { title, headers: `Location: ${location}\r\n` })
}
