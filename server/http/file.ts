import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setResponseHeaders, type H3Event } from 'h3'
import { useContext } from '../context.ts'
import { isHead } from './head.ts'

/**
 * Sends a stream as a download, at the client's pace, and closes it. A client that leaves, and the end of the server,
 * cut it short of its declared length, so that nobody takes a part for the whole.
 */
export async function sendFile(
  event: H3Event,
  { stream, size, name }: { stream: Readable; size: number; name: string },
): Promise<void> {
  const { req, res } = event.node
  setResponseHeaders(event, {
    'content-type': 'application/octet-stream',
    'content-length': size,
    'content-disposition': `attachment; filename="${name}"`,
  })
  res.flushHeaders()
  if (isHead(req)) {
    stream.destroy()
    res.end()
    return
  }
  await pipeline(stream, res, { signal: useContext().stopping }).catch(() => res.destroy())
}
