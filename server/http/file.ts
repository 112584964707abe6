import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setResponseHeader, setResponseHeaders, setResponseStatus, type H3Event } from 'h3'
import { precondition, rangeOf, type ByteRange } from '#proxy/sites/conditions.ts'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import { conditionsOf } from './conditional.ts'
import { isHead } from './head.ts'

export type { ByteRange }

/** A file to download and the headers that describe it. */
export interface Download {
  size: number
  /** Only characters that need no escape. */
  name: string
  /** A strong entity tag with its quotes. */
  etag: string
  /** Milliseconds. */
  modifiedAt: number
  /** Opens the file, or a part of it. */
  open(range: ByteRange | null): Promise<Readable>
}

/**
 * Sends a download, or the requested part of it, at the client's pace, and closes it. When the client leaves or the server
 * stops, the answer ends before its declared length, so that nobody takes a part for the whole. Throws
 * `precondition_failed`, `range_not_satisfiable`, or what opening the file throws.
 */
export async function sendFile(event: H3Event, download: Download): Promise<void> {
  const { req, res } = event.node
  const { size, name, etag, modifiedAt } = download
  const range = wantedPart(event, download)
  const validators = {
    etag,
    'last-modified': new Date(modifiedAt).toUTCString(),
    'accept-ranges': 'bytes',
  }
  if (range === 'none') {
    setResponseHeaders(event, validators)
    setResponseStatus(event, 304)
    return void res.end()
  }
  const stream = await download.open(range)
  if (range) {
    setResponseStatus(event, 206)
    setResponseHeader(event, 'content-range', `bytes ${range.start}-${range.end - 1}/${size}`)
  }
  setResponseHeaders(event, {
    ...validators,
    'content-type': 'application/octet-stream',
    'content-length': range ? range.end - range.start : size,
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

/** The part of a download to send: null for all of it, `none` when the client has it already. */
function wantedPart(event: H3Event, { size, ...validators }: Download): ByteRange | 'none' | null {
  const { req } = event.node
  const conditions = conditionsOf(req)
  const verdict = precondition(conditions, validators)
  if (verdict === 304) return 'none'
  if (verdict === 412)
    throw new AppError(
      'precondition_failed',
      'If-Match or If-Unmodified-Since does not match the current content',
    )
  // Range is defined only for GET (RFC 9110 section 14.2).
  const range = isHead(req) ? null : rangeOf(conditions, size, validators)
  if (range !== 'unsatisfiable') return range
  setResponseHeader(event, 'content-range', `bytes */${size}`)
  throw new AppError('range_not_satisfiable', `the range begins after the end of the ${size} bytes`)
}
