import { getQuery, setCookie, type H3Event } from 'h3'
import { browserAddress, isOwnOrigin } from '../accounts/browser-address.ts'
import { accountExists, viewUser } from '../accounts/operations.ts'
import type { AuthStatus } from '../accounts/schema.ts'
import { resumeSession, SESSION_LIFETIME_MS, type SignedIn } from '../accounts/sessions.ts'
import { AppError } from '../errors.ts'
import { FULL, type Access } from '../access/access.ts'
import { verifyToken } from '../tokens/operations.ts'
import type { z } from 'zod'

/**
 * Who may call an endpoint: an API token or the dashboard's session, only a token, only a token in the header, only the
 * session, or anyone.
 */
export type AuthRule = 'token' | 'api_token' | 'header_token' | 'session' | 'none'

/** Who calls. The `tokenId` of the server token is null, because it has no record. */
export type Principal =
  | { kind: 'session'; sessionId: string }
  | { kind: 'token'; tokenId: string | null; access: Access }
  | { kind: 'none' }

const NOBODY: Principal = { kind: 'none' }

/**
 * Applies an endpoint's rule to a request and returns who calls. With `none` it looks at nothing and never throws.
 *
 * Only one credential counts, even if it is wrong and a weaker one would do: the `Authorization` header before
 * `access_token` before the cookie. A client that sends a token means that token; falling back to the cookie would hide that
 * it was revoked. Schemes other than Bearer are ignored, because a proxy in front may ask for a password of its own.
 *
 * Throws `unauthorized`, `session_required` (a valid token where only a session counts) or `cross_site_request`.
 */
export function authenticate(event: H3Event, rule: AuthRule): Principal {
  if (rule === 'none') return NOBODY
  const principal = recognize(event, rule)
  if (principal.kind === 'none') {
    throw new AppError(
      'unauthorized',
      takesSession(rule)
        ? 'no valid credentials: send an API token as Authorization: Bearer, or sign in'
        : 'no valid credentials: send an API token as Authorization: Bearer; a session is not accepted here',
    )
  }
  if (principal.kind === 'token' && rule === 'session') {
    throw new AppError(
      'session_required',
      'an API token cannot do this: sign in to the dashboard and do it there',
    )
  }
  if (principal.kind === 'session') assertOwnOrigin(event)
  return principal
}

/**
 * Returns who calls, without refusing anyone: a wrong or expired credential counts as none. An open stream may call it again
 * to get the current answer.
 */
export function identify(event: H3Event): Principal {
  const principal = recognize(event, 'token')
  return principal.kind === 'session' && isOfOtherSite(event) ? NOBODY : principal
}

/**
 * What a principal may do: a session everything, a token what it was created for. Where anyone may call, nothing is looked up
 * on behalf of a caller, and whatever the endpoint does is bounded by itself.
 */
export function accessOf(principal: Principal): Access {
  return principal.kind === 'token' ? principal.access : FULL
}

/** The session of a principal, for endpoints where only a session counts. */
export function sessionOf(principal: Principal): string {
  if (principal.kind !== 'session') throw new TypeError('the endpoint does not ask for a session')
  return principal.sessionId
}

/** The id of a principal's token, null for the server token, for endpoints where only a token counts. */
export function tokenOf(principal: Principal): string | null {
  if (principal.kind !== 'token') throw new TypeError('the endpoint does not ask for a token')
  return principal.tokenId
}

/** What sign-in, setup and status return for this principal. */
export function authStatus(principal: Principal): z.input<typeof AuthStatus> {
  return {
    auth: principal.kind === 'none' ? null : principal.kind,
    setup_required: !accountExists(),
    user: principal.kind === 'none' ? null : viewUser(),
  }
}

/** Refuses a request that carries the session cookie but may come from another site's page. Throws `cross_site_request`. */
export function assertOwnOrigin(event: H3Event): void {
  const { req } = event.node
  if (event.method === 'GET' || event.method === 'HEAD') return assertOwnSite(event)
  if (isOwnOrigin(req)) return
  const used = browserAddress(req)?.origin ?? 'an unreadable address'
  const from = req.headers.origin ? `came from ${req.headers.origin}` : 'does not say which page it came from'
  throw new AppError(
    'cross_site_request',
    `a change with the session cookie must come from this dashboard, ${used}, but the request ${from}; ` +
      'use an API token for programs, and let a proxy in front send X-Forwarded-Proto and X-Forwarded-Host',
  )
}

/** Refuses a request that says that it comes from another site's page. Programs do not say so. Throws `cross_site_request`. */
export function assertNoOtherOrigin({ node: { req } }: H3Event): void {
  const { origin } = req.headers
  if (origin === undefined || isOwnOrigin(req)) return
  throw new AppError('cross_site_request', `requests of the page at ${origin} are not accepted here`)
}

/** A page under the same domain has another origin, but the browser sends the cookie with its requests. */
function assertOwnSite(event: H3Event): void {
  if (!isOfOtherSite(event)) return
  throw new AppError(
    'cross_site_request',
    'a request with the session cookie must come from this dashboard, but the browser says that it came from another page',
  )
}

/**
 * Whether the browser says that the request comes from another origin's page. Not all browsers say so, and programs never
 * do.
 */
function isOfOtherSite(event: H3Event): boolean {
  const site = event.node.req.headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** The session of the request's cookie, whatever other credential the request carries. */
export function cookieSession(event: H3Event): SignedIn | undefined {
  const name = cookieName(event)
  // A service under the same domain can set a cookie of this name too, so each one is tried, not only the first.
  for (const pair of (event.node.req.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    const session = key === name && value ? resumeSession(value) : undefined
    if (!session) continue
    // The browser must keep the cookie for as long as the server keeps the session.
    if (session.renewed && !event.node.res.headersSent) setSessionCookie(event, value!)
    return session
  }
  return undefined
}

/** Sets the browser's session cookie. */
export function setSessionCookie(event: H3Event, secret: string): void {
  writeCookie(event, secret, SESSION_LIFETIME_MS / 1_000)
}

/** Clears the browser's session cookie. */
export function clearSessionCookie(event: H3Event): void {
  writeCookie(event, '', 0)
}

function recognize(event: H3Event, rule: AuthRule): Principal {
  const given = bearerToken(event) ?? queryToken(event, rule)
  if (given !== undefined) {
    const token = verifyToken(given)
    return token ? { kind: 'token', tokenId: token.id, access: token.access } : NOBODY
  }
  const session = takesSession(rule) ? cookieSession(event) : undefined
  return session ? { kind: 'session', sessionId: session.id } : NOBODY
}

function takesSession(rule: AuthRule): boolean {
  return rule === 'token' || rule === 'session'
}

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110 section 11.1). */
export function bearerToken(event: H3Event): string | undefined {
  const header = event.node.req.headers.authorization ?? ''
  return /^bearer(\s|$)/i.test(header) ? header.slice('bearer'.length).trim() : undefined
}

/**
 * `access_token` is a credential only for requests that read. Where only a session counts, it is recognized in order to
 * refuse it.
 */
function queryToken(event: H3Event, rule: AuthRule): string | undefined {
  if (rule === 'header_token') return undefined
  if (rule !== 'session' && event.method !== 'GET' && event.method !== 'HEAD') return undefined
  const token: unknown = getQuery(event).access_token
  if (token === undefined) return undefined
  return typeof token === 'string' ? token : ''
}

function cookieName(event: H3Event): string {
  const address = browserAddress(event.node.req)
  return `deployer_session_${address?.port || (address?.protocol === 'https:' ? '443' : '80')}`
}

function writeCookie(event: H3Event, value: string, maxAge: number): void {
  const secure = browserAddress(event.node.req)?.protocol === 'https:'
  setCookie(event, cookieName(event), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure,
    maxAge,
  })
}
