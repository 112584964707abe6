import { fieldsOf, type Head } from '../http1/head.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'
import { announceCoding, announceVariants } from './answer-head.ts'
import { chooseCoding, type Coding } from './codings.ts'
import { CompressedBody, type BodyClient } from './compressed-body.ts'
import { Compressor, LIVE_CODINGS } from './compressor.ts'
import { COMPRESSIBLE, UNTOUCHED, forbidsTransforms, judgeAnswer } from './verdict.ts'

/** Who an answer is for that may be compressed. */
export interface CompressionClient extends BodyClient {
  readonly request: {
    /** It is HEAD. */
    readonly headOnly: boolean
    readonly compression: Coding | 'off'
  }
}

/** What the client would have its answer compressed by, whose request's head stands copied in the slab. */
export function codingWanted(head: Head): Coding {
  // HTTP/1.0 knows no chunks, and how long it becomes is not known before.
  if (head.minorVersion === 0) return null
  const fields = fieldsOf(slab.buffer, head)
  if (forbidsTransforms(fields)) return null
  return chooseCoding(fields.get('accept-encoding') ?? null, LIVE_CODINGS)
}

/**
 * Has the answer whose head stands copied in the slab compressed where it gains, and its head say so; null when it goes
 * out as it comes. It is read from `from`.
 */
export function compressAnswer(client: CompressionClient, head: Head, from: Wire): CompressedBody | null {
  const { headOnly, compression } = client.request
  const fields = fieldsOf(slab.buffer, head)
  const verdict = judgeAnswer(head.status, fields)
  if (verdict === UNTOUCHED || compression === 'off') return null
  const length = head.contentLength === -1 ? null : head.contentLength
  const compressor =
    verdict === COMPRESSIBLE && !headOnly && compression !== null
      ? Compressor.take(compression, length)
      : null
  if (!compressor) {
    announceVariants(slab.buffer, head, fields)
    return null
  }
  announceCoding(slab.buffer, head, fields, compression, !client.wire.frames)
  return new CompressedBody(compressor, client, from)
}
