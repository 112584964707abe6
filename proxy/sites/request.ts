import { LOWER, SPACE, TAB, ascii, equalsIgnoringCase, latin1 } from '../http1/bytes.ts'
import { lineEnd, type Head } from '../http1/head.ts'
import type { Conditions } from './conditions.ts'

/** The parts of a request that matter to a site. A field that is missing is null. */
export interface SiteRequest extends Conditions {
  /** The kind of the method, see `request-head.ts`. */
  method: number
  hasBody: boolean
  /** Percent-encoded, without the query. */
  path: string
  /** With its `?`; empty without a query. */
  query: string
  accept: string | null
  acceptEncoding: string | null
}

type FieldName = Exclude<keyof SiteRequest, 'method' | 'hasBody' | 'path' | 'query'>

const FIELDS: readonly { name: Uint8Array; key: FieldName }[] = [
  { name: ascii('accept'), key: 'accept' },
  { name: ascii('accept-encoding'), key: 'acceptEncoding' },
  { name: ascii('if-match'), key: 'ifMatch' },
  { name: ascii('if-none-match'), key: 'ifNoneMatch' },
  { name: ascii('if-modified-since'), key: 'ifModifiedSince' },
  { name: ascii('if-unmodified-since'), key: 'ifUnmodifiedSince' },
  { name: ascii('if-range'), key: 'ifRange' },
  { name: ascii('range'), key: 'range' },
]

const A = 97
const I = 105
const R = 114

/** Reads a parsed head whose copy begins at `start` of `output`. */
export function readSiteRequest(output: Uint8Array, start: number, head: Head): SiteRequest {
  let at = start
  while (output[at] !== SPACE) at++
  let end = ++at
  while (output[end] !== SPACE) end++
  const target = latin1(output, at, end)
  const query = target.indexOf('?')
  const request: SiteRequest = {
    method: head.method,
    hasBody: head.chunked || head.contentLength > 0,
    path: query < 0 ? target : target.slice(0, query),
    query: query < 0 ? '' : target.slice(query),
    accept: null,
    acceptEncoding: null,
    ifMatch: null,
    ifNoneMatch: null,
    ifModifiedSince: null,
    ifUnmodifiedSince: null,
    ifRange: null,
    range: null,
  }
  for (let line = 0; line < head.lines; line++) {
    const nameStart = head.lineStarts[line]!
    const first = LOWER[output[nameStart]!]!
    if (first === A || first === I || first === R)
      readField(output, nameStart, head.nameEnds[line]!, lineEnd(line, head), request)
  }
  return request
}

function readField(output: Uint8Array, start: number, nameEnd: number, end: number, into: SiteRequest): void {
  for (const { name, key } of FIELDS) {
    if (name.length !== nameEnd - start || !equalsIgnoringCase(output, start, nameEnd, name)) continue
    let valueStart = nameEnd + 1
    while (valueStart < end && isSpace(output[valueStart]!)) valueStart++
    while (end > valueStart && isSpace(output[end - 1]!)) end--
    const value = latin1(output, valueStart, end)
    const earlier = into[key]
    into[key] = earlier === null ? value : `${earlier}, ${value}`
    return
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB
}
