import type { IncomingMessage } from 'node:http'
import { EXIT } from '../fault.ts'
import { LostConnection } from './transport.ts'

/** A line is a JSON value of one log line or change. */
const MAX_LINE_CHARACTERS = 4 * 1024 * 1024

/** Takes the events of a stream. */
export interface EventTaker {
  take: (event: string, data: unknown) => void
  /** Called when the events that came together were taken; reading goes on when it resolves. */
  flush?: () => Promise<void>
}

/**
 * Reads Server-Sent Events, of which `end` is the last one; resolves after it. Throws LostConnection if the stream stops
 * without it, or sends nothing, not even a keep-alive, for `silenceMs`; and what the taker throws.
 */
export async function readEvents(
  answer: IncomingMessage,
  silenceMs: number,
  url: string,
  taker: EventTaker,
): Promise<void> {
  const lost = (reason: string): LostConnection =>
    new LostConnection(EXIT.noConnection, `the stream of ${url} was cut: ${reason}`)
  const failed = (error: Error): never => {
    throw error instanceof LostConnection || error.name === 'AbortError' ? error : lost(error.message)
  }
  answer.setTimeout(silenceMs, () => answer.destroy(lost(`nothing came for ${silenceMs / 1_000} s`)))
  answer.setEncoding('utf8')
  const parser = new Parser(taker.take)
  const pieces = (answer as AsyncIterable<string>)[Symbol.asyncIterator]()
  try {
    while (!parser.isOver) {
      const piece = await pieces.next().catch(failed)
      if (piece.done) throw lost('the connection ended')
      const fault = parser.read(piece.value)
      if (fault !== null) throw lost(fault)
      await taker.flush?.()
    }
  } finally {
    answer.destroy()
  }
}

/** Reads the text of a stream as it comes. Nothing of it is kept: a log of any length is read in the same memory. */
class Parser {
  isOver = false
  readonly #take: EventTaker['take']
  #partial = ''
  #event = 'message'
  #data = ''

  constructor(take: EventTaker['take']) {
    this.#take = take
  }

  /** Passes on what is complete, up to `end`. Returns what is wrong with the text; null for nothing. */
  read(piece: string): string | null {
    const text = this.#partial + piece
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1 && !this.isOver; end = text.indexOf('\n', start)) {
      if (text.startsWith('event:', start)) this.#event = text.slice(start + 6, end).trim()
      else if (text.startsWith('data:', start)) this.#data += text.slice(start + 5, end)
      else if (end === start && !this.#dispatch()) return 'an event is not JSON'
      start = end + 1
    }
    this.#partial = text.slice(start)
    return this.#partial.length > MAX_LINE_CHARACTERS ? 'a line is too long' : null
  }

  /** Passes on an event, if one came. Returns whether its data could be read. */
  #dispatch(): boolean {
    const [event, data] = [this.#event, this.#data.trim()]
    ;[this.#event, this.#data] = ['message', '']
    if (data === '' && event === 'message') return true
    let value: unknown = null
    try {
      if (data !== '') value = JSON.parse(data)
    } catch {
      return false
    }
    this.isOver = event === 'end'
    this.#take(event, value)
    return true
  }
}
