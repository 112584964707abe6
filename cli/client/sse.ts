import type { IncomingMessage } from 'node:http'
import { EXIT } from '../fault.ts'
import type { StreamEvent } from './api.ts'
import { LostConnection } from './transport.ts'

/** A line is a JSON value of one log line or change. */
const MAX_LINE_CHARACTERS = 4 * 1024 * 1024

/**
 * Reads Server-Sent Events. `end` is the last one. Throws LostConnection if the stream stops without it, or sends nothing, not
 * even a keep-alive, for `silenceMs`.
 */
export async function* readEvents(
  answer: IncomingMessage,
  silenceMs: number,
  url: string,
): AsyncGenerator<StreamEvent> {
  const lost = (reason: string): LostConnection =>
    new LostConnection(EXIT.noConnection, `the stream of ${url} was cut: ${reason}`)
  answer.setTimeout(silenceMs, () => answer.destroy(lost(`nothing came for ${silenceMs / 1_000} s`)))
  answer.setEncoding('utf8')
  let [event, data, partial] = ['message', '', '']
  try {
    for await (const text of answer as AsyncIterable<string>) {
      const lines = (partial + text).split('\n')
      partial = lines.pop()!
      if (partial.length > MAX_LINE_CHARACTERS) throw lost('a line is too long')
      for (const line of lines) {
        if (line.startsWith('event:')) event = line.slice(6).trim()
        else if (line.startsWith('data:')) data += line.slice(5).trim()
        else if (line === '' && (data !== '' || event !== 'message')) {
          yield { event, data: data === '' ? null : JSON.parse(data) }
          if (event === 'end') return
          ;[event, data] = ['message', '']
        }
      }
    }
  } catch (error) {
    if (error instanceof LostConnection || (error as Error).name === 'AbortError') throw error
    throw lost((error as Error).message)
  } finally {
    answer.destroy()
  }
  throw lost('the connection ended')
}
