import { plainLine } from '../text/plain-line.ts'
import { portOf } from './addresses.ts'
import { judgedAgents } from './agents.ts'
import { beginningOf } from './answers.ts'
import { placeFault, DESTINATIONS } from './judged.ts'
import { request } from './request.ts'

/** How long to wait for an answer. */
const ANSWER_WITHIN_MS = 15_000
/** How much of an answer an error message repeats. */
const KEPT_BYTES = 1024
const MAX_SAID_CHARACTERS = 200
/** How many characters of a hidden path are shown, so that people can tell two URLs of one host apart. */
const SHOWN_END_CHARACTERS = 4

export interface Outgoing {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  headers?: Record<string, string>
  body?: string | Buffer
  signal: AbortSignal
}

export interface OutgoingAnswer {
  status: number
  /** The beginning of the answer's body. */
  text: string
  /** The answer's `Retry-After`. */
  retryAfter: string | undefined
}

/** A connection that is kept may be closed just when the next message is sent, which would look like a failure. */
const agents = judgedAgents(() => DESTINATIONS)

/**
 * Sends a request to an address from a user: never to a link-local or metadata network, without following redirects, with a
 * time limit, and reading little of the answer. Throws when there is no answer.
 */
export async function send({ method, url, headers = {}, body, signal }: Outgoing): Promise<OutgoingAnswer> {
  const target = new URL(url)
  const fault = urlFault(url)
  if (fault !== null) throw new Error(fault)
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const response = await request({
    method,
    url: target,
    headers,
    body,
    agents,
    signal: AbortSignal.any([signal, late]),
  }).catch((error: Error) => {
    if (error.name !== 'TimeoutError' && error.name !== 'AbortError') throw error
    throw new Error(`no answer within ${ANSWER_WITHIN_MS / 1_000} s`, { cause: error })
  })
  const { pathname, search } = target
  return {
    status: response.statusCode ?? 0,
    text: withoutPath(await beginningOf(response, KEPT_BYTES), `${pathname}${search}`, pathname),
    retryAfter: response.headers['retry-after'],
  }
}

/** Hides the requested path, which some servers repeat and not everybody who sees the answer may know. */
function withoutPath(text: string, ...paths: string[]): string {
  return paths.reduce((rest, path) => (path === '/' ? rest : rest.replaceAll(path, '/***')), text)
}

/** Why an answer is a failure; null when it is a success. */
export function answerFault({ status, text }: Pick<OutgoingAnswer, 'status' | 'text'>): string | null {
  if (status >= 200 && status < 300) return null
  const [line] = text.trim().split('\n')
  const message = plainLine(line!, MAX_SAID_CHARACTERS)
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`
  return `answered ${status}${message === '' ? '' : `: ${message}`}`
}

/** What is wrong with an http or https URL to send to; null when nothing is. */
export function urlFault(text: string): string | null {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.port === '0')
    return 'must be an http or https URL'
  if (decoded(url.username) === null || decoded(url.password) === null)
    return 'has credentials that are not percent-encoded properly'
  return placeFault(url.hostname, portOf(url), DESTINATIONS)
}

/** Decodes a percent-encoded part of a URL; null when it is invalid. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/**
 * A URL without its possible secrets: the password, a user name without a password, since that may be a token, and
 * everything after the host, which is all that chats, log stores and relays need to let anyone write there. A user name that
 * could not be sent is hidden too, so that the result is accepted when it is sent back.
 */
export function shownDestination(text: string): string {
  const url = new URL(text)
  if (url.username !== '' && (url.password === '' || decoded(url.username) === null)) url.username = '***'
  if (url.password !== '') url.password = '***'
  const { pathname, search, hash } = url
  if ((pathname === '' || pathname === '/') && search === '' && hash === '') return url.href
  url.pathname = ''
  url.search = ''
  url.hash = ''
  const last = pathname.split('/').findLast((segment) => segment !== '') ?? ''
  const end = last.length > 2 * SHOWN_END_CHARACTERS ? last.slice(-SHOWN_END_CHARACTERS) : ''
  return `${url.href}***${end}`
}
