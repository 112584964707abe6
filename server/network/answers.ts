import type { ClientRequest, IncomingMessage } from 'node:http'

/**
 * The head of the answer to a request. Rejects with what goes wrong before it, and when the other side changes to another
 * protocol, which nobody asks for here: node then closes the connection and tells neither an answer nor an error, and
 * not even the request's signal ends the wait.
 */
export function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // Also of an error that follows the head: who reads the body is told by that.
    request.on('error', reject)
    request.once('close', () => reject(new Error('it answers in another protocol')))
  })
}

/** Tells a request too of the error that breaks off its answer, for who listens to the request alone. */
export function failWithAnswer(request: ClientRequest): void {
  request.once('response', (answer) => answer.once('error', (error) => request.emit('error', error)))
}

/** The first so many characters of a body, also of one that was cut: the rest could go on for ever. */
export async function beginningOf(response: IncomingMessage, most: number): Promise<string> {
  let text = ''
  response.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(0, most)
    if (text.length === most) response.destroy()
  })
  response.on('error', () => {})
  await new Promise((resolve) => response.once('close', resolve))
  return text
}

/** Milliseconds from now by a `Retry-After` (RFC 9110 section 10.2.3): seconds or a date. */
export function readRetryAfter(value: unknown, now: number = Date.now()): number | null {
  if (typeof value !== 'string') return null
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
