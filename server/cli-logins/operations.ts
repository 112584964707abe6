import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { networkOf, siteOf } from '#proxy/networks.ts'
import { timestamp } from '../clock.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { sameSecret } from '../secrets.ts'
import { createToken, revokeUnused } from '../tokens/operations.ts'
import type { CliLogin, CliLoginApproval, CliLoginPoll, StartedCliLogin } from './schema.ts'

/** A request waits 10 minutes; an answer waits as long again for its terminal. */
export const LIFETIME_MS = 10 * 60_000
const POLL_INTERVAL_SECONDS = 2
const SECRET_BYTES = 20
/** Anyone may start one, so memory must have an end: each takes some 500 bytes. */
const MAX_PENDING = 1_000
/** A person has one terminal that waits, an office behind one address a few. */
const MAX_PENDING_OF_NETWORK = 10
/** RFC 8628 section 6.1: consonants alone, so that no word appears and no letter looks like a digit. */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_GROUP_LETTERS = 4
const DEFAULT_NAME = 'terminal'

const log = logger('cli-logins')

interface Request {
  id: string
  code: string
  name: string
  /** Where it was started, and whose allowance it counts on. */
  address: string
  network: string
  status: z.output<typeof CliLogin>['status']
  secret: string
  createdAt: number
  /** From approval until the terminal takes it. */
  token: { id: string; secret: string } | null
  expiry: NodeJS.Timeout
}

/** In memory alone: a restart forgets them. */
const requests = new Map<string, Request>()

/** Starts the sign-in of a terminal at an address. Nobody is refused: beyond an allowance the oldest that waits is forgotten. */
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

/** What the administrator judges by. Throws `not_found`. */
export function viewCliLogin(id: string): z.input<typeof CliLogin> {
  return view(find(id))
}

/**
 * Makes the token that the terminal takes at its next poll. Throws `not_found`, `conflict` when it has been answered,
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
      'code: is not the code of this sign-in; type the one that your own terminal shows, and deny it if none does',
    )
  }
  const { api_token: record, token: secret } = createToken(request.name, expires_at ?? null)
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

/** So that nobody blocks anybody, the oldest goes of who has used up an allowance, or else of who has the most. */
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
      `there is no terminal sign-in ${id}: it was collected, it expired, or newer ones from its address took its place; start again in the terminal`,
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
    address: request.address,
    status: request.status,
    created_at: timestamp(request.createdAt),
    expires_at: timestamp(request.createdAt + LIFETIME_MS),
  }
}

/** People type a code in any case, and leave out what parts it. */
function lettersOf(code: string): string {
  return code.toUpperCase().replace(/[^A-Z]/g, '')
}

function codeGroup(): string {
  return Array.from({ length: CODE_GROUP_LETTERS }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join(
    '',
  )
}
