import { createFetch, type FetchOptions } from 'ofetch'
import { fetch, Headers } from 'undici'
import type { z } from 'zod'
import { AppError, messageOf } from '../../errors.ts'
import { parsedJson } from '../../text/parsed-json.ts'
import { plainLine } from '../../text/plain-line.ts'
import { portOf } from '../../network/addresses.ts'
import { forbiddenIn, judgedAgent, textWithin } from '../../network/judged-agent.ts'
import { assertPlace, ownReach } from '../../network/judged.ts'
import { VERSION } from '../../version.ts'
import type { Place } from './place.ts'

/** Short, because a user waits for the answer. */
const ANSWER_MS = 10_000
/** A hundred repositories with all their details take under 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/** Renamed repositories and moved hosts redirect once or twice. */
const MAX_REDIRECTS = 3

/** An answer that the caller can use: a success, or a refusal that it knows how to read. */
export interface Answer {
  status: number
  body: unknown
  headers: Headers
}

/** How a provider refuses credentials: invalid, or without permission (RFC 9110 sections 15.5.2 and 15.5.4). */
export type RefusalStatus = 401 | 403

/** The provider refused the credentials that were sent. */
export class CredentialsRefused extends AppError {
  readonly status: RefusalStatus

  constructor(status: RefusalStatus, message: string) {
    super('git_authorization_rejected', message)
    this.status = status
  }
}

export interface Question {
  method?: 'GET' | 'POST'
  query?: Record<string, string | number>
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: Record<string, unknown>
  /** Sent as a form. */
  form?: Record<string, string>
}

const agent = judgedAgent(ownReach, ANSWER_MS)

const request = createFetch({
  fetch: ((url: string, options: object) => fetch(url, { ...options, dispatcher: agent })) as never,
  Headers,
  AbortController,
})

/**
 * Sends a request to a provider. Throws `git_provider_unavailable` when it does not answer in time, answers with an error of
 * its own or without JSON, or redirects to another host; CredentialsRefused when it refuses the credentials. Other refusals
 * are returned.
 */
export async function ask(place: Place, url: string, question: Question = {}): Promise<Answer> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    const answer = await follow(place, url, question, signal)
    return judge(place, answer)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const forbidden = forbiddenIn(cause)
    if (forbidden) throw unavailable(place, `may not be connected to: ${forbidden.message}`, cause)
    if (signal.aborted)
      throw unavailable(place, `did not answer within ${ANSWER_MS / 1_000} s: try again`, cause)
    throw unavailable(place, `cannot be reached: check its address and try again`, cause)
  }
}

interface Raw {
  status: number
  text: string
  headers: Headers
}

async function follow(place: Place, url: string, question: Question, signal: AbortSignal): Promise<Raw> {
  let at = new URL(url)
  for (let redirects = 0; ; redirects++) {
    const answer = await send(at, question, signal)
    if (answer.status < 300 || answer.status >= 400) return answer
    const next = URL.parse(answer.headers.get('location') ?? '', at)
    // A body, and the secrets in it, are not sent to another address.
    if (!next || !mayFollow(at, next) || question.method === 'POST')
      throw unavailable(
        place,
        `redirects to another address (${next?.host ?? 'none'}), which is not followed`,
      )
    if (redirects === MAX_REDIRECTS) throw unavailable(place, 'redirects in a circle')
    at = next
  }
}

/**
 * Whether credentials for one address may be sent to another: only to the same origin, or to the same host's default port
 * with TLS.
 */
function mayFollow(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port + to.port === ''
  return to.origin === from.origin || (isUpgrade && to.hostname === from.hostname)
}

async function send(url: URL, question: Question, signal: AbortSignal): Promise<Raw> {
  assertPlace(url.hostname, portOf(url), ownReach())
  const options: FetchOptions<'stream'> = {
    method: question.method ?? 'GET',
    headers: { accept: 'application/json', 'user-agent': `deployer/${VERSION}`, ...question.headers },
    ...(question.query ? { query: question.query } : {}),
    ...(question.body ? { body: question.body } : {}),
    ...(question.form ? { body: new URLSearchParams(question.form) } : {}),
    responseType: 'stream',
    redirect: 'manual',
    ignoreResponseError: true,
    retry: 0,
    signal,
  }
  const response = await request.raw(url.href, options)
  const text = await textWithin(response.body ?? [], MAX_ANSWER_BYTES)
  if (text === null) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`)
  return { status: response.status, text, headers: response.headers }
}

function judge(place: Place, { status, text, headers }: Raw): Answer {
  // GitHub has two kinds of limits; the secondary one says only when to retry (docs.github.com, "Rate limits for the REST
  // API").
  const isExhausted =
    status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after'))
  if (status === 429 || isExhausted) throw unavailable(place, 'has reached its rate limit: try again later')
  if (status >= 500) throw unavailable(place, `answered ${status}: try again later`)
  const body = text === '' ? null : parsedJson(text)
  if (status === 401 || status === 403)
    throw new CredentialsRefused(
      status,
      `${place.title} refused: ${messageIn(body) ?? `it answered ${status}`}`,
    )
  if (body === undefined) throw unavailable(place, `answered ${status} without JSON: is this its address?`)
  return { status, body, headers }
}

/** How much of the provider's own message is repeated. */
const MAX_SAID_CHARACTERS = 200

/** The message of a provider's refusal, from one of the fields that they use. */
function messageIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null
  const { message, error_description, error } = body as Record<string, unknown>
  const found = [message, error_description, error].find(
    (text): text is string => typeof text === 'string' && text !== '',
  )
  return found === undefined ? null : plainLine(found, MAX_SAID_CHARACTERS)
}

/** The error for a provider's refusal, as the user sees it. */
export function rejected(place: Place, { status, body }: Answer, what: string): AppError {
  return new AppError(
    'git_authorization_rejected',
    `${place.title} ${what}: ${messageIn(body) ?? `it answered ${status}`}`,
  )
}

/**
 * Parses an answer in the shape that the provider documents. Throws what `rejected` and `unavailable` return, with `fault`
 * in the message.
 */
export function readAnswer<T>(place: Place, schema: z.ZodType<T>, answer: Answer, fault: string): T {
  if (answer.status >= 400) throw rejected(place, answer, fault)
  const parsed = schema.safeParse(answer.body)
  if (!parsed.success) throw unavailable(place, `${fault}: its answer has an unexpected shape`, parsed.error)
  return parsed.data
}

/** The error for a provider that cannot be used now. */
function unavailable(place: Place, what: string, cause?: unknown): AppError {
  return new AppError('git_provider_unavailable', `${place.title} ${what}`, {
    cause: cause === undefined ? undefined : messageOf(cause),
  })
}
