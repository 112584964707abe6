import type { ClientRequest, IncomingMessage } from 'node:http'

/**
 * The headers of the answer to a request. Rejects with any error before them, and when the other side switches to another
 * protocol, which is never requested here: node then closes the connection and reports neither an answer nor an error, and
 * not even the request's signal ends the wait.
 */
export function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // Also handles an error after the headers, which the reader of the body gets from the body.
    request.on('error', reject)
    request.once('close', () => reject(new Error('it answers in another protocol')))
  })
}

/** Makes a request also emit the error that interrupts its answer, for callers that listen only to the request. */
export function failWithAnswer(request: ClientRequest): void {
  request.once('response', (answer) => answer.once('error', (error) => request.emit('error', error)))
}

/** Fails an answer that is collected whole when it is longer. One that is read as a stream is its reader's matter. */
export function limitCollected(request: ClientRequest, maxBytes: number): void {
  request.once('response', (answer) =>
    process.nextTick(() => {
      // A client library listens at once to an answer that it collects, and to none that it passes on.
      if (answer.listenerCount('data') === 0) return
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > maxBytes) answer.destroy(new Error(`its answer is longer than ${maxBytes} bytes`))
      })
    }),
  )
}

/** The beginning of a body, even of one that was cut off. The rest is not read, since it could go on forever. */
export async function beginningOf(response: IncomingMessage, max: number): Promise<string> {
  let text = ''
  response.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(0, max)
    if (text.length === max) response.destroy()
  })
  response.on('error', () => {})
  await new Promise((resolve) => response.once('close', resolve))
  return text
}

/** The text of a body of no more than so many bytes; null when it is longer, and then the rest is not read. */
export async function textWithin(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<string | null> {
  const taken: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) return null
    taken.push(piece)
  }
  return Buffer.concat(taken).toString('utf8')
}

/** The delay in milliseconds of a `Retry-After` (RFC 9110 section 10.2.3), which is a number of seconds or a date. */
export function readRetryAfter(value: unknown, now: number = Date.now()): number | null {
  if (typeof value !== 'string') return null
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
