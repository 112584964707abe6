import { CR, LF, ascii, put, putText } from '../http1/bytes.ts'
import { hstsLine } from '../pages/render.ts'
import { slab } from '../wire/slab.ts'

/** Room for a head's own lines: enough for any reason, date and request id. */
const OWN_BYTES = 512

const REASONS: Record<number, string> = {
  200: 'OK',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  404: 'Not Found',
  412: 'Precondition Failed',
  416: 'Range Not Satisfiable',
}

const REQUEST_ID = ascii('X-Request-Id: ')

/** The head of an answer from a site. */
export interface SiteHead {
  status: number
  /** Lines that were built once. */
  lines: Uint8Array
  /** Lines of this answer only. */
  more: string
  requestId: string
  /** For how many seconds browsers must use only TLS; 0 omits the field. */
  hstsSeconds: number
  close: boolean
}

/** Writes a head to the slab, with room for so many bytes after it. Returns its end. */
export function putHead(head: SiteHead, contentBytes: number): number {
  const { status, lines, more, requestId, hstsSeconds, close } = head
  slab.reserve(OWN_BYTES + lines.length + more.length + contentBytes)
  const { buffer } = slab
  const first = beginning(status)
  buffer.set(first, slab.at)
  let to = slab.at + first.length
  buffer.set(lines, to)
  to = putText(buffer, to + lines.length, more)
  to = putText(buffer, put(buffer, to, REQUEST_ID), requestId)
  to = endLine(buffer, to)
  if (hstsSeconds !== 0) to = putText(buffer, to, hstsLine(hstsSeconds))
  if (close) to = putText(buffer, to, 'Connection: close\r\n')
  return endLine(buffer, to)
}

function endLine(output: Uint8Array, to: number): number {
  output[to] = CR
  output[to + 1] = LF
  return to + 2
}

let second = 0
let beginnings = new Map<number, Uint8Array>()

/** Returns the status line and the Date field, built once a second. */
function beginning(status: number): Uint8Array {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    beginnings = new Map()
  }
  let bytes = beginnings.get(status)
  if (!bytes) {
    const date = new Date(now * 1000).toUTCString()
    bytes = ascii(`HTTP/1.1 ${status} ${REASONS[status]}\r\nDate: ${date}\r\n`)
    beginnings.set(status, bytes)
  }
  return bytes
}
