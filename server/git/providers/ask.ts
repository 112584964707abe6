import type { z } from 'zod'
import { AppError, messageOf } from '../../errors.ts'
import { plainLine } from '../../text/plain-line.ts'
import { judgedDispatcher } from '../../network/agents.ts'
import { askJson, type JsonAnswer, type JsonQuestion } from '../../network/json.ts'
import { ForbiddenPlace, ownReach } from '../../network/judged.ts'
import type { Place } from './place.ts'

/** Short, because a user waits for the answer. */
const ANSWER_MS = 10_000
/** A hundred repositories with all their details take under 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/** Renamed repositories and moved hosts redirect once or twice. */
const MAX_REDIRECTS = 3

/** An answer that the caller can use: a success, or a refusal that it knows how to read. */
export type Answer = Omit<JsonAnswer, 'isTooLong'>

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

const dispatcher = judgedDispatcher(ownReach, ANSWER_MS)

/**
 * Sends a request to a provider. Throws `git_provider_unavailable` when it does not answer in time, answers with an error of
 * its own or without JSON, or redirects to another host; CredentialsRefused when it refuses the credentials. Other refusals
 * are returned.
 */
export async function ask(place: Place, url: string, question: JsonQuestion = {}): Promise<Answer> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    const answer = await follow(place, url, question, signal)
    return judge(place, answer)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    if (cause instanceof ForbiddenPlace)
      throw unavailable(place, `may not be connected to: ${cause.message}`, cause)
    if (signal.aborted)
      throw unavailable(place, `did not answer within ${ANSWER_MS / 1_000} s: try again`, cause)
    throw unavailable(place, `cannot be reached: check its address and try again`, cause)
  }
}

async function follow(place: Place, url: string, asked: JsonQuestion, signal: AbortSignal): Promise<Answer> {
  let at = new URL(url)
  for (let redirects = 0; ; redirects++) {
    const answer = await askJson(at.href, asked, { dispatcher, signal, maxBytes: MAX_ANSWER_BYTES })
    if (answer.isTooLong) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    if (answer.status < 300 || answer.status >= 400) return answer
    const next = URL.parse(answer.headers.get('location') ?? '', at)
    // A body, and the secrets in it, are not sent to another address.
    if (!next || !mayFollow(at, next) || asked.method === 'POST')
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

function judge(place: Place, answer: Answer): Answer {
  const { status, body, headers } = answer
  // GitHub has two kinds of limits; the secondary one says only when to retry (docs.github.com, "Rate limits for the REST
  // API").
  const isExhausted =
    status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after'))
  if (status === 429 || isExhausted) throw unavailable(place, 'has reached its rate limit: try again later')
  if (status >= 500) throw unavailable(place, `answered ${status}: try again later`)
  if (status === 401 || status === 403)
    throw new CredentialsRefused(
      status,
      `${place.title} refused: ${messageIn(body) ?? `it answered ${status}`}`,
    )
  if (body === undefined) throw unavailable(place, `answered ${status} without JSON: is this its address?`)
  return answer
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
