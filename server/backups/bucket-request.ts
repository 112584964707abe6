import { createHash } from 'node:crypto'
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { AppError, messageOf } from '../errors.ts'
import type { ByteRange } from '../http/file.ts'
import { answerOf, readRetryAfter } from '../network/answers.ts'
import type { BucketOptions } from '../options/bucket.ts'
import { plainLine } from '../text/plain-line.ts'

/** A store that says and takes nothing for this long is gone. */
const SILENCE_MS = 60_000
/** A fault that passes, as of a network or of a store that is busy, is tried again after these. */
const PAUSES_MS = [500, 2_000, 5_000]
/** The most of what a busy store asks to be waited for; whoever wants more is asked again with the next copy. */
const MAX_PAUSE_MS = 60_000
/** The longest answer is a list of a thousand unfinished uploads. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** An error is a text that people read. */
const MAX_MESSAGE_CHARACTERS = 500
const EMPTY_SHA256 = createHash('sha256').digest('hex')

/** What a request carries; it is read anew for each try. */
export interface Body {
  size: number
  sha256: string
  /** A piece holds until the next is asked for: its memory is used again. */
  pieces: () => AsyncIterable<Buffer>
}

export interface Asked {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  url: string
  body?: Body
  /** What of an object is wanted. */
  range?: ByteRange
}

/** Whether a store refused the keys that it was asked with, which it says as it says that they may not do something. */
export function areKeysRefused(fault: unknown): boolean {
  const { cause } = fault as { cause?: unknown }
  return cause instanceof Refusal && (cause.status === 401 || cause.status === 403)
}

/** What a store refused, by its own code (S3 API reference, "Error responses"). */
class Refusal extends Error {
  readonly status: number
  readonly code: string
  /** How long it asks to be left alone. */
  readonly pauseMs: number

  constructor(status: number, code: string, message: string, pauseMs: number) {
    super(plainLine(`${code}: ${message}`, MAX_MESSAGE_CHARACTERS))
    this.status = status
    this.code = code
    this.pauseMs = pauseMs
  }
}

/**
 * Sends a signed request (AWS Signature Version 4), the body's checksum signed too, and answers with the head; the body
 * of the answer is still to be read. Throws `io_error` with what the store said, `not_found` for what it does not have,
 * or the signal's reason.
 */
export async function ask(
  options: BucketOptions,
  asked: Asked,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  for (let tries = 0; ; tries++) {
    try {
      const answer = await send(options, asked, signal)
      if (answer.statusCode! >= 200 && answer.statusCode! < 300) return answer
      throw refusalOf(answer.statusCode!, await textOf(answer), answer.headers['retry-after'])
    } catch (error) {
      signal.throwIfAborted()
      const pauseMs = PAUSES_MS[tries]
      if (pauseMs === undefined || !isPassing(error)) throw readable(options, error)
      const askedMs = error instanceof Refusal ? error.pauseMs : 0
      await delay(Math.max(pauseMs, askedMs), undefined, { signal })
    }
  }
}

/** The same for a request whose answer is a short text, which may tell of an error in spite of its status. */
export async function askText(options: BucketOptions, asked: Asked, signal: AbortSignal): Promise<string> {
  const text = await textOf(await ask(options, asked, signal)).catch((error: unknown) => {
    throw readable(options, error)
  })
  if (/<Error>/.test(text)) throw readable(options, refusalOf(200, text))
  return text
}

/** The texts of the elements of this name in a document of the store's. */
export function elements(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => unescape(rest.split(`</${name}>`)[0]!))
}

/** The body of a request that is a text. */
export function textBody(text: string): Body {
  const bytes = Buffer.from(text)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { size: bytes.length, sha256, pieces: () => Readable.from([bytes]) }
}

async function send(
  { accessKeyId, secretAccessKey, region }: BucketOptions,
  { method, url, body, range }: Asked,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = { 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 }
  const credentials = { accessKeyId, secretAccessKey, ...(region !== null && { region }) }
  const signed = await new AwsV4Signer({ method, url, headers, service: 's3', ...credentials }).sign()
  const request = signed.url.protocol === 'https:' ? requestHttps : requestHttp
  const asked = request(signed.url, {
    method,
    headers: {
      ...Object.fromEntries(signed.headers),
      'content-length': body?.size ?? 0,
      ...(range && { range: `bytes=${range.start}-${range.end - 1}` }),
    },
    signal,
    timeout: SILENCE_MS,
  })
  asked.on('timeout', () => asked.destroy(new Error('it was silent for a minute')))
  const answered = answerOf(asked)
  if (body) sendBody(asked, body).catch((error: Error) => asked.destroy(error))
  else asked.end()
  return await answered
}

async function sendBody(request: ClientRequest, { pieces }: Body): Promise<void> {
  for await (const piece of pieces()) {
    await written(request, piece)
    if (request.destroyed) return
  }
  request.end()
}

/** Waits until the system has taken a piece, or nobody will any more: why is told by the request itself. */
function written(request: ClientRequest, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    request.once('close', resolve)
    request.write(piece, () => {
      request.off('close', resolve)
      resolve()
    })
  })
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk
    if (text.length > MAX_ANSWER_BYTES) throw new Error('it answered with more than a list of uploads')
  }
  return text
}

function refusalOf(status: number, text: string, retryAfter?: string): Refusal {
  const [code = `status ${status}`] = elements(text, 'Code')
  const [message = 'it gave no reason'] = elements(text, 'Message')
  return new Refusal(status, code, message, Math.min(MAX_PAUSE_MS, readRetryAfter(retryAfter) ?? 0))
}

function isPassing(error: unknown): boolean {
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
