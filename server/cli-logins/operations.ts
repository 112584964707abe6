import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { networkOf, siteOf } from '#proxy/networks.ts'
import { FULL } from '../access/access.ts'
import { timestamp } from '../clock.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { sameSecret } from '../secrets.ts'
import { createToken, revokeUnused } from '../tokens/operations.ts'
import type { CliLogin, CliLoginApproval, CliLoginPoll, StartedCliLogin } from './schema.ts'

/** A request waits 10 minutes for an answer; the answer waits another 10 for its terminal. */
export const LIFETIME_MS = 10 * 60_000
const POLL_INTERVAL_SECONDS = 2
const SECRET_BYTES = 20
/** Anyone may start one, so they must be bounded: each takes about 500 bytes of memory. */
const MAX_PENDING = 1_000
/** A person has one terminal waiting, an office behind one address a few. */
const MAX_PENDING_OF_NETWORK = 10
/** RFC 8628 section 6.1: consonants only, so that no words appear and no letter looks like a digit. */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_GROUP_LETTERS = 4
const DEFAULT_NAME = 'terminal'

const log = logger('cli-logins')

interface Request {
  id: string
  code: string
  name: string
  /** Where it was started. `network` is whose limit it counts against. */
  address: string
  network: string
  status: z.output<typeof CliLogin>['status']
  secret: string
  createdAt: number
  /** From approval until the terminal collects it. */
  token: { id: string; secret: string } | null
  expiry: NodeJS.Timeout
}

/** Only in memory: a restart forgets them. */
const requests = new Map<string, Request>()

/** Starts the sign-in of a terminal at an address. It is never refused: beyond a limit the oldest waiting one is dropped. */
export function startCliLogin(address: string, name: string = DEFAULT_NAME): z.input<typeof StartedCliLogin> {
  const network = networkOf(address)
  makeRoom(network)
  const id = newId('cliLogin')
  const request: Request = {
    id,
    code: `${codeGroup()}-${codeGroup()}`,
    name,
    address,
    network,
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

/** What the administrator sees before approving. Throws `not_found`. */
export function viewCliLogin(id: string): z.input<typeof CliLogin> {
  return view(find(id))
}

/**
 * Creates the token that the terminal collects at its next poll. Throws `not_found`, `conflict` when it has been answered,
 * or `invalid_request` for the code of another terminal.
 */
export function approveCliLogin(
  id: string,
  { code, expires_at }: z.output<typeof CliLoginApproval>,
): z.input<typeof CliLogin> {
  const request = findPending(id)
  if (code !== undefined && lettersOf(code) !== lettersOf(request.code)) {
    throw new AppError(
      'invalid_request',
      'code: is not the code of this sign-in; type the code that your own terminal shows, and deny the request if it shows none',
    )
  }
  const { api_token: record, token: secret } = createToken(request.name, expires_at ?? null, FULL, 'terminal')
  request.token = { id: record.id, secret }
  return answer(request, 'approved')
}

/** Denies the request. Throws `not_found`, or `conflict` when it has been answered. */
export function denyCliLogin(id: string): z.input<typeof CliLogin> {
  return answer(findPending(id), 'denied')
}

/**
 * Answers a poll of the terminal. The verdict is given out once, then the request is gone: of racing polls one gets it.
 * Throws `not_found`, or `invalid_credentials` for another terminal's secret.
 */
export function pollCliLogin(id: string, secret: string): z.input<typeof CliLoginPoll> {
  const request = find(id)
  if (!sameSecret(secret, request.secret)) {
    throw new AppError(
      'invalid_credentials',
      'the secret is not the one that was returned when this sign-in was started',
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
  log.info(`a terminal sign-in was ${status}`, { request: request.id, name: request.name })
  return view(request)
}

/** Drops an expired request. A token that its terminal never collected is known to nobody, so it is revoked. */
function expire(id: string): void {
  const request = requests.get(id)
  if (!request) return
  forget(request)
  if (request.token) revokeUnused(request.token.id)
}

/** Drops the oldest request of a network at its limit, or else of the busiest site, so that nobody can block others. */
function makeRoom(network: string): void {
  const pending = [...requests.values()].filter(({ status }) => status === 'pending')
  const own = pending.filter((request) => request.network === network)
  if (own.length >= MAX_PENDING_OF_NETWORK) return forget(own[0]!)
  if (pending.length < MAX_PENDING) return
  const sites = Map.groupBy(pending, ({ address }) => siteOf(address))
  const largest = [...sites.values()].reduce((most, next) => (next.length > most.length ? next : most))
  forget(largest[0]!)
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
      `there is no terminal sign-in ${id}: it was already collected, it expired, or newer ones from its address replaced it; start again in the terminal`,
    )
  }
  return request
}

function findPending(id: string): Request {
  const request = find(id)
  if (request.status !== 'pending')
    throw new AppError('conflict', `the terminal sign-in ${id} has already been ${request.status}`)
  return request
}

function view(request: Request): z.input<typeof CliLogin> {
  return {
    id: request.id,
    code: request.code,
    name: request.name,
    address: request.address,
    status: request.status,
    created_at: timestamp(request.createdAt),
    expires_at: timestamp(request.createdAt + LIFETIME_MS),
  }
}

/** People type a code in upper or lower case, and leave out the hyphen. */
function lettersOf(code: string): string {
  return code.toUpperCase().replace(/[^A-Z]/g, '')
}

function codeGroup(): string {
  return Array.from({ length: CODE_GROUP_LETTERS }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join(
    '',
  )
}
