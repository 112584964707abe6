import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { AppError, messageOf } from '../errors.ts'
import type { ByteRange } from '../http/file.ts'
import { judgedAgents, KEEPS_CONNECTIONS } from '../network/agents.ts'
import { readRetryAfter, textWithin } from '../network/answers.ts'
import { DESTINATIONS, ForbiddenPlace } from '../network/judged.ts'
import { request as sendRequest, type StreamedBody } from '../network/request.ts'
import type { BucketOptions } from '../options/bucket.ts'
import { plainLine } from '../text/plain-line.ts'

/** A store that neither sends nor accepts anything for this long is considered gone. */
const SILENCE_MS = 60_000
/** The pauses before retries after a transient fault, as of a network or a busy store. */
const PAUSES_MS = [500, 2_000, 5_000]
/** Max wait that a busy store can ask for; if it asks for more, the next copy tries again. */
const MAX_PAUSE_MS = 60_000
/** The longest answer is a list of a thousand unfinished uploads. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** People read the error. */
const MAX_MESSAGE_CHARACTERS = 500
const agents = judgedAgents(() => DESTINATIONS, KEEPS_CONNECTIONS)
const EMPTY_SHA256 = createHash('sha256').digest('hex')

/** The body of a request; it is read again for each try. */
export interface Body extends StreamedBody {
  sha256: string
}

export interface ObjectRequest {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  url: string
  body?: Body
  /** The part of an object to get. */
  range?: ByteRange
}

/** Whether a store refused the keys of a request. It answers missing permissions with the same statuses. */
export function areKeysRefused(fault: unknown): boolean {
  const { cause } = fault as { cause?: unknown }
  return cause instanceof Refusal && (cause.status === 401 || cause.status === 403)
}

/** A store's refusal, with its own error code (S3 API reference, "Error responses"). */
class Refusal extends Error {
  readonly status: number
  readonly code: string
  /** How long it asks clients to wait (`Retry-After`). */
  readonly pauseMs: number

  constructor(status: number, code: string, message: string, pauseMs: number) {
    super(plainLine(`${code}: ${message}`, MAX_MESSAGE_CHARACTERS))
    this.status = status
    this.code = code
    this.pauseMs = pauseMs
  }
}

/**
 * Sends a signed request (AWS Signature Version 4; the body's checksum is signed too) and resolves with the response's head;
 * its body is still to be read. Throws `io_error` with what the store said, `not_found` for what it does not have, or the
 * signal's reason.
 */
export async function ask(
  options: BucketOptions,
  request: ObjectRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await send(options, request, signal)
      if (answer.statusCode! >= 200 && answer.statusCode! < 300) return answer
      throw refusalOf(answer.statusCode!, await textOf(answer), answer.headers['retry-after'])
    } catch (error) {
      signal.throwIfAborted()
      const pauseMs = PAUSES_MS[tries]
      if (pauseMs === undefined || !isTransient(error)) throw readable(options, error)
      const requestedMs = error instanceof Refusal ? error.pauseMs : 0
      await delay(Math.max(pauseMs, requestedMs), undefined, { signal })
    }
  }
}

/** The same for a request whose response is a short text, which may report an error despite its status. */
export async function askText(
  options: BucketOptions,
  request: ObjectRequest,
  signal: AbortSignal,
): Promise<string> {
  const text = await textOf(await ask(options, request, signal)).catch((error: unknown) => {
    throw readable(options, error)
  })
  if (/<Error>/.test(text)) throw readable(options, refusalOf(200, text))
  return text
}

/** The texts of the elements of this name in an XML document from the store. */
export function elements(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => unescape(rest.split(`</${name}>`)[0]!))
}

/** A request body that is a text. */
export function textBody(text: string): Body {
  const bytes = Buffer.from(text)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { size: bytes.length, sha256, pieces: () => Readable.from([bytes]) }
}

async function send(
  { accessKeyId, secretAccessKey, region }: BucketOptions,
  { method, url, body, range }: ObjectRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = { 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 }
  const credentials = { accessKeyId, secretAccessKey, ...(region !== null && { region }) }
  const signed = await new AwsV4Signer({ method, url, headers, service: 's3', ...credentials }).sign()
  const headersSent = Object.fromEntries(signed.headers)
  if (range) headersSent.range = `bytes=${range.start}-${range.end - 1}`
  // Redirects are not followed: a signature is for one address.
  return await sendRequest({
    method,
    url: signed.url,
    headers: headersSent,
    body,
    agents,
    signal,
    silenceMs: SILENCE_MS,
  })
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const text = await textWithin(answer, MAX_ANSWER_BYTES)
  if (text === null) throw new Error('its response is larger than any list of uploads')
  return text
}

function refusalOf(status: number, text: string, retryAfter?: string): Refusal {
  const [code = `status ${status}`] = elements(text, 'Code')
  const [message = 'it gave no reason'] = elements(text, 'Message')
  return new Refusal(status, code, message, Math.min(MAX_PAUSE_MS, readRetryAfter(retryAfter) ?? 0))
}

function isTransient(error: unknown): boolean {
  if (error instanceof ForbiddenPlace) return false
  if (!(error instanceof Refusal)) return true
  return error.status >= 500 || error.status === 429 || error.code === 'RequestTimeout'
}

function readable({ url }: BucketOptions, error: unknown): AppError {
  const isMissing = error instanceof Refusal && ['NoSuchKey', 'NoSuchUpload'].includes(error.code)
  const what = error instanceof Refusal ? 'refused' : 'cannot be reached'
  return new AppError(
    isMissing ? 'not_found' : 'io_error',
    `the bucket ${url} ${what}: ${plainLine(messageOf(error), MAX_MESSAGE_CHARACTERS)}`,
    {
      cause: error,
    },
  )
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!)
}
