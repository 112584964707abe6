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

/** Every body but the source upload and the push webhook. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024
/** The longest sign-in, with every character escaped, has under 7 KiB: a larger body without credentials means nothing. */
const MEANT_BYTES = 16 * 1024

const budget = new ByteBudget()

/** A body of someone whose credentials were checked. Throws `payload_too_large`, or `invalid_request` when it stops. */
function receive(event: H3Event, limitBytes: number): AsyncGenerator<Buffer, void, undefined> {
  return pieces(event, limitBytes, WITH_CREDENTIALS)
}

/** Reads a body for nothing but its limit. Throws like `receive`. */
export async function skipBody(event: H3Event, limitBytes: number): Promise<void> {
  const body = receive(event, limitBytes)
  while (!(await body.next()).done);
}

/** What `receive` gives, as a stream. */
export function receiveStream(event: H3Event, limitBytes: number): Readable {
  const stream = Readable.from(receive(event, limitBytes), { objectMode: false })
  // Its reader is told by the iteration; a fault that comes when nobody reads any more is nobody's.
  return stream.on('error', () => {})
}

/** The first byte of a stream, which stays in it; null when it ends without one. */
export async function firstByte(stream: Readable): Promise<number | null> {
  await once(stream, 'readable')
  const first = stream.read(1) as Buffer | null
  if (first === null) return null
  stream.unshift(first)
  return first[0]!
}

/**
 * A body of anyone, whose pieces count against the budget that all such bodies share for as long as they are iterated.
 * Throws `payload_too_large`, `service_unavailable`, or `invalid_request` when it comes too slowly.
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

/** The same of a body that is received already, whose own limit may be higher. */
export async function gatherJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const gathered = new Gathered()
  for await (const piece of body) {
    gathered.add(piece)
    if (gathered.bytes.length > BODY_LIMIT_BYTES) throw tooLarge(BODY_LIMIT_BYTES)
  }
  return parseJson(gathered.bytes)
}

/** Reads a body that is text. Throws `payload_too_large`, or `invalid_request` when it is no UTF-8. */
export async function readText(event: H3Event): Promise<string> {
  assertPlain(event)
  const gathered = new Gathered()
  for await (const piece of receive(event, BODY_LIMIT_BYTES)) gathered.add(piece)
  return decodeUtf8(gathered.bytes)
}

/** Reads a JSON body of anyone. What is too large to be meant is read to its end, so that the limit holds, and not kept. */
export async function readJsonFromAnyone(event: H3Event): Promise<unknown> {
  assertPlain(event)
  const share = budget.open()
  const gathered = new Gathered()
  let size = 0
  try {
    for await (const piece of pieces(event, BODY_LIMIT_BYTES, WITHOUT_CREDENTIALS)) {
      size += piece.length
      if (size > MEANT_BYTES) continue
      await hold(event.node.req, share, piece.length)
      gathered.add(piece)
    }
    if (size > MEANT_BYTES)
      throw new AppError('invalid_request', `body: nothing that is meant here has ${size} bytes`)
    return parseJson(gathered.bytes)
  } finally {
    share.release()
  }
}

/** Refuses a body whose declared length is over the limit. */
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
  // Not destroyed on an early end: the refusal must still reach the client on this connection.
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
    // Not waited for: it is told when the client sends again, or leaves.
    void incoming.return?.()
  }
}

/** A client that asked whether to send its body is told only now, when nothing else refuses the request (RFC 9110 section 10.1.1). */
function inviteBody({ node: { req, res } }: H3Event): void {
  const asks = req.httpVersion === '1.1' && /^100-continue$/i.test(req.headers.expect ?? '')
  if (asks && !res.headersSent) res.writeContinue()
}

/**
 * Takes bytes of the budget. While it waits for them nothing is read from the client: else node would go on until its own
 * buffer has 64 KiB, in which of a body that comes byte by byte each byte is an object of some 300 bytes.
 */
async function hold(request: IncomingMessage, share: ByteShare, bytes: number): Promise<void> {
  if (share.tryTake(bytes)) return
  const buffered = request.read() as Buffer | null
  if (buffered !== null) request.unshift(buffered)
  // The reading just done resumes the socket in this turn.
  await setImmediate()
  request.socket.pause()
  try {
    await share.wait(bytes)
  } finally {
    request.socket.resume()
  }
}

/** Nothing here unpacks: a few bytes could become gigabytes. Throws `invalid_request`. */
function assertPlain({ node: { req } }: H3Event): void {
  const coding = req.headers['content-encoding']?.trim().toLowerCase()
  if (coding && coding !== 'identity')
    throw new AppError('invalid_request', `body: must be sent as it is, not in the coding ${coding}`)
}

function tooLarge(limitBytes: number): AppError {
  return new AppError(
    'payload_too_large',
    `the body is larger than the ${limitBytes / 1024 / 1024} MiB allowed here`,
  )
}
