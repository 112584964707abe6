import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setResponseHeader, setResponseStatus, type H3Event } from 'h3'

/** Sends a Response, whose body may be a stream, as the answer to a request. Ends quietly when the client leaves. */
export async function sendWebResponse(event: H3Event, answer: Response): Promise<void> {
  const { res } = event.node
  setResponseStatus(event, answer.status)
  for (const [name, value] of answer.headers) {
    if (name !== 'connection') setResponseHeader(event, name, value)
  }
  if (answer.body === null) return void res.end()
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream) return void res.end(Buffer.from(await answer.arrayBuffer()))
  res.flushHeaders()
  await pipeline(Readable.fromWeb(answer.body as never), res).catch((error: unknown) => {
    if (!res.closed && !res.destroyed) throw error
  })
}
