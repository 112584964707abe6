import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { setResponseHeaders, type H3Event } from 'h3'
import { useContext } from '../context.ts'
import { isHead } from './head.ts'

/**
 * Sends an open file as a download, at the client's pace, and closes it. A client that leaves, and the end of the server,
 * cut it short of its declared length, so that nobody takes a part for the whole.
 */
export async function sendFile(
  event: H3Event,
  { file, size, name }: { file: FileHandle; size: number; name: string },
): Promise<void> {
  const { req, res } = event.node
  setResponseHeaders(event, {
    'content-type': 'application/octet-stream',
    'content-length': size,
    'content-disposition': `attachment; filename="${name}"`,
  })
  res.flushHeaders()
  if (isHead(req)) {
    await file.close()
    res.end()
    return
  }
  await pipeline(file.createReadStream(), res, { signal: useContext().stopping }).catch(() => res.destroy())
}
