import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { timestamp } from '../clock.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { sameSecret } from '../secrets.ts'
import { createToken, revokeUnused } from '../tokens/operations.ts'
import type { CliLogin, CliLoginPoll, StartedCliLogin } from './schema.ts'

/** A request waits 10 minutes; an answer waits as long again for its terminal. */
export const LIFETIME_MS = 10 * 60_000
const POLL_INTERVAL_SECONDS = 2
const SECRET_BYTES = 20
/** Anyone may start one, so memory must have an end: each takes some 500 bytes. */
const MAX_REQUESTS = 1_000
/** RFC 8628 section 6.1: consonants alone, so that no word appears and no letter looks like a digit. */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_GROUP_LETTERS = 4
const DEFAULT_NAME = 'terminal'

const log = logger('cli-logins')

interface Request {
  id: string
  code: string
  name: string
  status: z.output<typeof CliLogin>['status']
  secret: string
  createdAt: number
  /** From approval until the terminal takes it. */
  token: { id: string; secret: string } | null
  expiry: NodeJS.Timeout
}

/** In memory alone: a restart forgets them. */
const requests = new Map<string, Request>()

/** Starts the sign-in of a terminal. Throws `too_many_attempts` while too many wait. */
export function startCliLogin(name: string = DEFAULT_NAME): z.input<typeof StartedCliLogin> {
  if (requests.size >= MAX_REQUESTS) {
    throw new AppError(
      'too_many_attempts',
      `${MAX_REQUESTS} terminals wait to be signed in: try again in 10 minutes`,
      { retryAfterSeconds: LIFETIME_MS / 1_000 },
    )
  }
  const id = newId('cliLogin')
  const request: Request = {
    id,
    code: `${codeGroup()}-${codeGroup()}`,
    name,
    status: 'pending',
    secret: randomHex(SECRET_BYTES),
    createdAt: Date.now(),
    token: null,
    expiry: setTimeout(() => expire(id), LIFETIME_MS).unref(),
  }
  requests.set(id, request)
  return {
    code: request.code,
    expires_in: LIFETIME_MS / 1_000,
    id,
    interval: POLL_INTERVAL_SECONDS,
    secret: request.secret,
  }
}

/** What the administrator compares. Throws `not_found`. */
export function viewCliLogin(id: string): z.input<typeof CliLogin> {
  return view(find(id))
}

/** Makes the token that the terminal takes at its next poll. Throws `not_found`, or `conflict` when it has been answered. */
export function approveCliLogin(id: string): z.input<typeof CliLogin> {
  const request = findPending(id)
  const { api_token: record, token: secret } = createToken(request.name, null)
  request.token = { id: record.id, secret }
  return answer(request, 'approved')
}

/** Tells the terminal no. Throws `not_found`, or `conflict` when it has been answered. */
export function denyCliLogin(id: string): z.input<typeof CliLogin> {
  return answer(findPending(id), 'denied')
}

/**
 * A poll of the terminal. An answer is given once: the request is gone afterwards, so of racing polls one gets the token.
 * Throws `not_found`, or `invalid_credentials` for another terminal's secret.
 */
export function pollCliLogin(id: string, secret: string): z.input<typeof CliLoginPoll> {
  const request = find(id)
  if (!sameSecret(secret, request.secret)) {
    throw new AppError(
      'invalid_credentials',
      'the secret is not the one that the start of this sign-in answered',
    )
  }
  if (request.status === 'pending') return { status: 'pending' }
  forget(request)
  return request.token ? { status: 'approved', token: request.token.secret } : { status: 'denied' }
}

/** Forgets every request, as a restart does. */
export function forgetCliLogins(): void {
  for (const request of requests.values()) forget(request)
}

function answer(request: Request, status: 'approved' | 'denied'): z.input<typeof CliLogin> {
  request.status = status
  request.expiry.refresh()
  log.info(`the sign-in of a terminal was ${status}`, { request: request.id, name: request.name })
  return view(request)
}

/** A token that its terminal never took is known to nobody. */
function expire(id: string): void {
  const request = requests.get(id)
  if (!request) return
  forget(request)
  if (request.token) revokeUnused(request.token.id)
}

function forget(request: Request): void {
  clearTimeout(request.expiry)
  requests.delete(request.id)
}

function find(id: string): Request {
  const request = requests.get(id)
  if (!request) {
    throw new AppError(
      'not_found',
      `there is no terminal sign-in ${id}: it was collected, or it expired; start again in the terminal`,
    )
  }
  return request
}

function findPending(id: string): Request {
  const request = find(id)
  if (request.status !== 'pending')
    throw new AppError('conflict', `the terminal sign-in ${id} is ${request.status} already`)
  return request
}

function view(request: Request): z.input<typeof CliLogin> {
  return {
    id: request.id,
    code: request.code,
    name: request.name,
    status: request.status,
    created_at: timestamp(request.createdAt),
    expires_at: timestamp(request.createdAt + LIFETIME_MS),
  }
}

function codeGroup(): string {
  return Array.from({ length: CODE_GROUP_LETTERS }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join(
    '',
  )
}
