import { ascii, latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import { answer, type Answer } from '../pages/answers.ts'

/** RFC 8555 8.3. */
const CHALLENGE_PATH = '/.well-known/acme-challenge/'
const CHALLENGE_REQUEST = ascii(`GET ${CHALLENGE_PATH}`)
const HTTPS_PORT = 443

/** The target of the request whose copied head begins at `at`: path and query. */
export function pathOf(output: Buffer, at: number, head: Head): string {
  const text = latin1(output, at, head.outputEnd)
  const start = text.indexOf(' ') + 1
  return text.slice(start, text.indexOf(' ', start))
}

/** The token of the HTTP-01 challenge that the request whose copied head begins at `at` asks for; null when it asks for something else. */
export function challengeToken(output: Buffer, at: number, head: Head): string | null {
  for (let index = 0; index < CHALLENGE_REQUEST.length; index++) {
    if (output[at + index] !== CHALLENGE_REQUEST[index]) return null
  }
  return pathOf(output, at, head).slice(CHALLENGE_PATH.length)
}

/** Proves to a certificate authority that this server is what the host's name leads to. */
export function challengeAnswer(content: string): Answer {
  return answer(200, 'OK', 'challenge', '', { content })
}

/** Sends a client on to the same address over TLS: with the same method and body, which 301 would let it drop (RFC 9110 15.4.9). */
export function secureRedirect(host: string, port: number, path: string): Answer {
  const authority = port === HTTPS_PORT ? host : `${host}:${port}`
  const location = `https://${authority}${path === '*' ? '/' : path}`
  return answer(308, 'Permanent Redirect', 'permanent_redirect', 'It is served over HTTPS alone.', {
    title: 'This address has moved',
    headers: `Location: ${location}\r\n`,
  })
}
