import { once } from 'node:events'
import { setResponseHeaders, type H3Event } from 'h3'
import { useContext } from '../context.ts'
import { watchCredentials } from './credential-watch.ts'
import type { RawResponse } from './endpoint.ts'
import { isHead } from './head.ts'

/** How often an idle stream sends a keep-alive comment. */
const KEEP_ALIVE_MS = 15_000

/** Declares a response that is a stream of Server-Sent Events. */
export function eventStream(description: string): RawResponse {
  return { contentType: 'text/event-stream', description, isOpen: true }
}

/**
 * One Server-Sent Event. When `data` is undefined, an empty data line is sent, because browsers never dispatch an event
 * without one.
 */
export interface ServerSentEvent {
  event: string
  data?: unknown
}

/** Aborts when the client has left or the server stops. */
export function leftSignal(event: H3Event): AbortSignal {
  const { res } = event.node
  const gone = new AbortController()
  if (res.closed) gone.abort()
  else res.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, useContext().stopping])
}

/**
 * Sends events, or already formatted ones, until they end, the client leaves or the server stops. A slow reader holds back
 * only its own stream. Writes to node's response directly, because EventStream of h3 1 supports neither back-pressure nor
 * comments.
 */
export async function sendEvents(
  event: H3Event,
  events: (signal: AbortSignal) => AsyncIterable<ServerSentEvent | Buffer>,
): Promise<void> {
  const { res } = event.node
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, leftSignal(event)])
  setResponseHeaders(event, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  res.flushHeaders()
  if (isHead(event.node.req)) return void res.end()
  // A stream is subject to the same check as any other request: it ends together with its token or session.
  const forgetWatch = watchCredentials(event, () => gone.abort())
  const keepAlive = setInterval(() => {
    if (!gone.signal.aborted && !res.writableNeedDrain) res.write(': keep-alive\n\n')
  }, KEEP_ALIVE_MS)
  try {
    for await (const item of events(signal)) {
      if (signal.aborted) break
      if (!res.write(Buffer.isBuffer(item) ? item : eventBytes(item))) await once(res, 'drain', { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearInterval(keepAlive)
    forgetWatch()
    // Cutting a stream leaves out its terminating chunk, so that the client notices.
    if (signal.aborted) res.destroy()
    else res.end()
  }
}

/** Formats an event. */
export function eventBytes({ event, data }: ServerSentEvent): Buffer {
  return Buffer.from(`event: ${event}\ndata:${data === undefined ? '' : ` ${JSON.stringify(data)}`}\n\n`)
}
