import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { H3Event } from 'h3'
import { AppError } from '../errors.ts'
import { ByteBudget, type ByteShare } from './byte-budget.ts'
import { Gathered } from './gathered.ts'
import { decodeUtf8, parseJson } from './json.ts'
import { WITH_CREDENTIALS, WITHOUT_CREDENTIALS, within, type Pace } from './pace.ts'

/** The limit for every body except the source upload and the push webhook. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024
/**
 * The longest valid sign-in, with every character escaped, is under 7 KiB; no larger body without credentials can be valid.
 */
const MAX_VALID_BYTES = 16 * 1024

const budget = new ByteBudget()

/** Receives the body of an authenticated caller. Throws `payload_too_large`, or `invalid_request` when it stops arriving. */
function receive(event: H3Event, limitBytes: number): AsyncGenerator<Buffer, void, undefined> {
  return pieces(event, limitBytes, WITH_CREDENTIALS)
}

/** Reads a body only to enforce its limit, and drops it. Throws what `receive` throws. */
export async function skipBody(event: H3Event, limitBytes: number): Promise<void> {
  const body = receive(event, limitBytes)
  while (!(await body.next()).done);
}

/** Like `receive`, as a stream. */
export function receiveStream(event: H3Event, limitBytes: number): Readable {
  const stream = Readable.from(receive(event, limitBytes), { objectMode: false })
  // The reader gets errors from the iteration. One that comes after nobody reads any more is ignored.
  return stream.on('error', () => {})
}

/** The first byte of a stream, which stays in the stream; null when the stream is empty. */
export async function firstByte(stream: Readable): Promise<number | null> {
  await once(stream, 'readable')
  const first = stream.read(1) as Buffer | null
  if (first === null) return null
  stream.unshift(first)
  return first[0]!
}

/**
 * Receives the body of an unauthenticated caller. Its pieces count against the budget that all such bodies share, until the
 * iteration ends. Throws `payload_too_large`, `service_unavailable`, or `invalid_request` when it arrives too slowly.
 */
export async function* receiveFromAnyone(
  event: H3Event,
  limitBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  const share = budget.open()
  try {
    for await (const piece of pieces(event, limitBytes, WITHOUT_CREDENTIALS)) {
      await hold(event.node.req, share, piece.length)
      yield piece
    }
  } finally {
    share.release()
  }
}

/** Reads a JSON body; an empty one counts as `{}`. Throws `payload_too_large` or `invalid_request`. */
export async function readJson(event: H3Event): Promise<unknown> {
  assertPlain(event)
  return gatherJson(receive(event, BODY_LIMIT_BYTES))
}

/** Like `readJson`, for a body that is received by the caller, who may allow more. */
export async function gatherJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const gathered = new Gathered()
  for await (const piece of body) {
    gathered.add(piece)
    if (gathered.bytes.length > BODY_LIMIT_BYTES) throw tooLarge(BODY_LIMIT_BYTES)
  }
  return parseJson(gathered.bytes)
}

/** Reads a text body. Throws `payload_too_large`, or `invalid_request` when it is not UTF-8. */
export async function readText(event: H3Event): Promise<string> {
  assertPlain(event)
  const gathered = new Gathered()
  for await (const piece of receive(event, BODY_LIMIT_BYTES)) gathered.add(piece)
  return decodeUtf8(gathered.bytes)
}

/**
 * Reads the JSON body of an unauthenticated caller. A body too large to be valid is read to its end to enforce the limit,
 * but not kept.
 */
export async function readJsonFromAnyone(event: H3Event): Promise<unknown> {
  assertPlain(event)
  const share = budget.open()
  const gathered = new Gathered()
  let size = 0
  try {
    for await (const piece of pieces(event, BODY_LIMIT_BYTES, WITHOUT_CREDENTIALS)) {
      size += piece.length
      if (size > MAX_VALID_BYTES) continue
      await hold(event.node.req, share, piece.length)
      gathered.add(piece)
    }
    if (size > MAX_VALID_BYTES)
      throw new AppError('invalid_request', `body: ${size} bytes is more than any valid body has here`)
    return parseJson(gathered.bytes)
  } finally {
    share.release()
  }
}

/** Throws when the declared length of a body is over the limit. */
export function assertLength(event: H3Event, limitBytes: number): void {
  if (Number(event.node.req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
}

async function* pieces(
  event: H3Event,
  limitBytes: number,
  pace: Pace,
): AsyncGenerator<Buffer, void, undefined> {
  const { req } = event.node
  assertLength(event, limitBytes)
  inviteBody(event)
  const clock = pace.start()
  // Not destroyed on an early end: the client must still get the refusal on this connection.
  const incoming = req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let size = 0
  try {
    for (;;) {
      const next = await within(incoming.next(), clock.patienceMs(size))
      if (next.done) return
      size += next.value.length
      if (size > limitBytes) throw tooLarge(limitBytes)
      const handed = performance.now()
      yield next.value
      clock.forgive(performance.now() - handed)
    }
  } finally {
    // Not awaited: it settles only when the client sends more, or leaves.
    void incoming.return?.()
  }
}

/** Answers `Expect: 100-continue` only now, when nothing else refuses the request (RFC 9110 section 10.1.1). */
function inviteBody({ node: { req, res } }: H3Event): void {
  const asks = req.httpVersion === '1.1' && /^100-continue$/i.test(req.headers.expect ?? '')
  if (asks && !res.headersSent) res.writeContinue()
}

/**
 * Takes bytes from the budget. Reads nothing from the client while it waits: node would keep filling its own buffer of 64
 * KiB, and for a body that arrives byte by byte each byte in it is an object of some 300 bytes.
 */
async function hold(request: IncomingMessage, share: ByteShare, bytes: number): Promise<void> {
  if (share.tryTake(bytes)) return
  const buffered = request.read() as Buffer | null
  if (buffered !== null) request.unshift(buffered)
  // The read() just done resumes the socket in this turn of the event loop.
  await setImmediate()
  request.socket.pause()
  try {
    await share.wait(bytes)
  } finally {
    request.socket.resume()
  }
}

/** Refuses a compressed body, which could turn a few bytes into gigabytes. Throws `invalid_request`. */
function assertPlain({ node: { req } }: H3Event): void {
  const coding = req.headers['content-encoding']?.trim().toLowerCase()
  if (coding && coding !== 'identity')
    throw new AppError(
      'invalid_request',
      `body: must be sent uncompressed, not with content-encoding ${coding}`,
    )
}

function tooLarge(limitBytes: number): AppError {
  return new AppError(
    'payload_too_large',
    `the body is larger than the ${limitBytes / 1024 / 1024} MiB allowed here`,
  )
}
