import { gainsByCoding, MIN_COMPRESSED_BYTES } from './gains.ts'

/** An answer as it came. */
export const UNTOUCHED = 0
/** As it came, but another client may be given another: caches must know. */
export const VARIES = 1
/** It may be sent in a coding. */
export const COMPRESSIBLE = 2
export type Verdict = 0 | 1 | 2

/** Fields that are about the bytes as they came (RFC 9530, RFC 9110 14.4), or say that they are in a coding already. */
const FORBIDDING = [
  'content-encoding',
  'content-range',
  'content-digest',
  'repr-digest',
  'digest',
  'content-md5',
]
/** They have no body, or (205, 206) not one that may be another. */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 206])

/** Whether the answer of a service that has its answers compressed is to be, by its status and fields. */
export function judgeAnswer(status: number, fields: ReadonlyMap<string, string>): Verdict {
  // What it would say of the whole answer: which was in a coding perhaps, with a tag that says so (RFC 9110 15.4.5).
  if (status === 304) return VARIES
  if (BODYLESS.has(status) || FORBIDDING.some((name) => fields.has(name))) return UNTOUCHED
  // Who can have a secret and a guess of theirs in one answer learns by its length how far they agree (BREACH): an
  // answer that begins or renews a session is left alone.
  if (fields.has('set-cookie') || forbidsTransforms(fields)) return UNTOUCHED
  if (!gainsByCoding(fields.get('content-type') ?? '')) return UNTOUCHED
  const length = fields.get('content-length')
  return length === undefined || Number(length) >= MIN_COMPRESSED_BYTES ? COMPRESSIBLE : UNTOUCHED
}

/** Whether Cache-Control says that nobody on the way may change the content (RFC 9111 5.2.1.6, 5.2.2.6). */
export function forbidsTransforms(fields: ReadonlyMap<string, string>): boolean {
  return /(?:^|[\s,])no-transform(?:$|[\s,])/i.test(fields.get('cache-control') ?? '')
}
