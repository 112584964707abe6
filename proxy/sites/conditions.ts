/** The conditional fields of a request, as they were sent; null for those that are missing. */
export interface Conditions {
  ifMatch: string | null
  ifNoneMatch: string | null
  ifModifiedSince: string | null
  ifUnmodifiedSince: string | null
  ifRange: string | null
  range: string | null
}

/** What the conditions of a request are compared with. */
export interface Validators {
  /** An entity tag with its quotes. */
  etag: string
  /** The modification time in milliseconds; dates only have seconds. */
  modifiedAt: number
}

/** The bytes of an answer: `end` is exclusive. */
export interface ByteRange {
  start: number
  end: number
}

const QUOTE = '"'
/** Numbers may have any number of digits (RFC 9110 14.1.2): those too large for a double are beyond the end of any file. */
const RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/** Returns 200 if the request's conditions allow an answer, else 304 or 412, in the order of RFC 9110 13.2.2. */
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
 * Returns the bytes that a request for one range gets of `size` (RFC 9110 14). Null means all: there is no range, there are
 * several, it is malformed or meant for other content (If-Range). `unsatisfiable` means that none of them exist.
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

/** Compares If-Range strongly: by the tag, or by the exact date (RFC 9110 13.1.5). */
function isSame(validator: string, etag: string, modifiedAt: number): boolean {
  return validator === etag || dateOf(validator) === seconds(modifiedAt)
}

/** Whether a list of entity tags contains `etag`; a weak comparison ignores `W/` on either side (RFC 9110 8.8.3.2). */
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

/** Returns the seconds of an HTTP date, or null if it is not one (RFC 9110 5.6.7: two of the three forms are obsolete). */
function dateOf(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const moment = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(moment) ? null : seconds(moment)
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
