/** What a request makes its answer depend on, as it was sent. A field that is not there is null. */
export interface Conditions {
  ifMatch: string | null
  ifNoneMatch: string | null
  ifModifiedSince: string | null
  ifUnmodifiedSince: string | null
  ifRange: string | null
  range: string | null
}

/** What is compared with a request's conditions. */
export interface Validators {
  /** An entity tag with its quotes. */
  etag: string
  /** The moment in milliseconds, of which a date has seconds. */
  modifiedAt: number
}

/** The bytes of an answer: `end` is exclusive. */
export interface ByteRange {
  start: number
  end: number
}

const QUOTE = '"'
/** Numbers may have any number of digits (RFC 9110 14.1.2): of those that a double cannot tell apart none lies in a file. */
const RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/** 200 when the request's conditions let it be answered, else 304 or 412, in the order of RFC 9110 13.2.2. */
export function precondition(request: Conditions, { etag, modifiedAt }: Validators): 200 | 304 | 412 {
  if (request.ifMatch !== null) {
    if (!lists(request.ifMatch, etag, false)) return 412
  } else if (request.ifUnmodifiedSince !== null) {
    const since = dateOf(request.ifUnmodifiedSince)
    if (since !== null && seconds(modifiedAt) > since) return 412
  }
  if (request.ifNoneMatch !== null) return lists(request.ifNoneMatch, etag, true) ? 304 : 200
  if (request.ifModifiedSince === null) return 200
  const since = dateOf(request.ifModifiedSince)
  return since !== null && seconds(modifiedAt) <= since ? 304 : 200
}

/**
 * The bytes that a request for one range gets of `size` (RFC 9110 14); null for all of them: without a range, for
 * several, for one that is malformed or meant for another content (If-Range); `unsatisfiable` when none are there.
 */
export function rangeOf(
  request: Conditions,
  size: number,
  { etag, modifiedAt }: Validators,
): ByteRange | 'unsatisfiable' | null {
  const [range, first, last, suffix] = (request.range === null ? null : RANGE.exec(request.range)) ?? []
  if (range === undefined) return null
  if (request.ifRange !== null && !isSame(request.ifRange, etag, modifiedAt)) return null
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/** If-Range compares strongly: the tag, or the very date (RFC 9110 13.1.5). */
function isSame(validator: string, etag: string, modifiedAt: number): boolean {
  return validator === etag || dateOf(validator) === seconds(modifiedAt)
}

/** Whether a list of entity tags names `etag`; a weak comparison lets `W/` of either pass (RFC 9110 8.8.3.2). */
function lists(tags: string, etag: string, weakly: boolean): boolean {
  if (tags === '*') return true
  const own = weakly && etag.startsWith('W/') ? etag.slice('W/'.length) : etag
  for (let start = tags.indexOf(QUOTE), end = 0; start >= 0; start = tags.indexOf(QUOTE, end + 1)) {
    end = tags.indexOf(QUOTE, start + 1)
    if (end < 0) return false
    const isOwn = end + 1 - start === own.length && tags.startsWith(own, start)
    if (isOwn && (weakly || !tags.startsWith('W/', start - 2))) return true
  }
  return false
}

/** Seconds of an HTTP date; null when it is none (RFC 9110 5.6.7: of three forms the last two are obsolete). */
function dateOf(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const moment = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(moment) ? null : seconds(moment)
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
