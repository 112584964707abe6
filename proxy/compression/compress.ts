import { fieldsOf, type Head } from '../http1/head.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'
import { announceCoding, announceVariants } from './answer-head.ts'
import { chooseCoding, type Coding } from './codings.ts'
import { CompressedBody, type BodyClient } from './compressed-body.ts'
import { Compressor, LIVE_CODINGS } from './compressor.ts'
import { COMPRESSIBLE, UNTOUCHED, forbidsTransforms, judgeAnswer } from './verdict.ts'

/** The client of an answer that may be compressed. */
export interface CompressionClient extends BodyClient {
  readonly request: {
    /** Whether the method is HEAD. */
    readonly headOnly: boolean
    readonly compression: Coding | 'off'
  }
}

/** Returns the coding that the client wants for its answer. The head of its request is copied in the slab. */
export function codingWanted(head: Head): Coding {
  // HTTP/1.0 has no chunks, and the compressed length is not known in advance.
  if (head.minorVersion === 0) return null
  const fields = fieldsOf(slab.buffer, head)
  if (forbidsTransforms(fields)) return null
  return chooseCoding(fields.get('accept-encoding') ?? null, LIVE_CODINGS)
}

/**
 * Compresses the answer whose head is copied in the slab, if that is worth it, and changes the head accordingly. Returns
 * null when the answer is sent unchanged. The body is read from `from`.
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
