import { gainsByCoding, MIN_COMPRESSED_BYTES } from './gains.ts'

/** The answer is sent unchanged. */
export const UNTOUCHED = 0
/** The answer is sent as it came, but other clients may get another one: caches must know. */
export const VARIES = 1
/** The answer may be sent in a coding. */
export const COMPRESSIBLE = 2
export type Verdict = 0 | 1 | 2

/** Fields that describe the original bytes (RFC 9530, RFC 9110 14.4), or say that they are in a coding already. */
const FORBIDDING = [
  'content-encoding',
  'content-range',
  'content-digest',
  'repr-digest',
  'digest',
  'content-md5',
]
/** Statuses without a body, or (205, 206) with one that must not change. */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 206])

/** Judges by status and fields whether an answer is to be compressed, for a service that has compression on. */
export function judgeAnswer(status: number, fields: ReadonlyMap<string, string>): Verdict {
  // A 304 has the fields of the full answer, which may have been sent in a coding and with its tag (RFC 9110 15.4.5).
  if (status === 304) return VARIES
  if (BODYLESS.has(status) || FORBIDDING.some((name) => fields.has(name))) return UNTOUCHED
  // An attacker who gets a guess into the same answer as a secret learns from the length how much of it is right (BREACH),
  // so an answer that begins or renews a session is not compressed.
  if (fields.has('set-cookie') || forbidsTransforms(fields)) return UNTOUCHED
  if (!gainsByCoding(fields.get('content-type') ?? '')) return UNTOUCHED
  const length = fields.get('content-length')
  return length === undefined || Number(length) >= MIN_COMPRESSED_BYTES ? COMPRESSIBLE : UNTOUCHED
}

/** Whether Cache-Control forbids intermediaries to change the content (RFC 9111 5.2.1.6, 5.2.2.6). */
export function forbidsTransforms(fields: ReadonlyMap<string, string>): boolean {
  return /(?:^|[\s,])no-transform(?:$|[\s,])/i.test(fields.get('cache-control') ?? '')
}
