import { CODING_ADDED_BYTES } from '../compression/answer-head.ts'
import { CR, LF, ascii, equalsIgnoringCase, put, putText } from '../http1/bytes.ts'
import { dropNamedLines, type Head } from '../http1/head.ts'
import { hstsLine } from '../pages/render.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'

/** Who a head is for. */
interface HeadClient {
  readonly wire: Wire
  readonly request: { readonly requestId: string }
  readonly hstsSeconds: number
}

/** Room for the lines that are added to a response. */
export const ADDED_BYTES = 512 + CODING_ADDED_BYTES

const CONNECTION_CLOSE = ascii('Connection: close\r\n')
const REQUEST_ID = 'X-Request-Id: '
const HSTS = ascii('strict-transport-security')

/** Takes out of a head copied to the slab what is for the relay alone; with `strip` the body has no chunks. */
export function dropLines({ wire }: HeadClient, head: Head, keepUpgrade: boolean, strip: boolean): void {
  let names = head.connectionNames
  if (head.upgrade && !keepUpgrade) names = [...(names ?? []), 'upgrade']
  if (strip) names = [...(names ?? []), 'transfer-encoding', ...(wire.frames ? [] : ['trailer'])]
  if (names) dropNamedLines(slab.buffer, head, names)
}

/** Adds to a head copied to the slab, at `to`, what the relay tells itself, and the empty line. Answers its end. */
export function endHead(client: HeadClient, head: Head, to: number, close: boolean): number {
  const { buffer } = slab
  if (head.requestIdStart === 0) {
    to = putText(buffer, to, REQUEST_ID)
    to = putText(buffer, to, client.request.requestId)
    buffer[to++] = CR
    buffer[to++] = LF
  }
  const { hstsSeconds } = client
  if (hstsSeconds > 0 && !namesHsts(buffer, head)) to = putText(buffer, to, hstsLine(hstsSeconds))
  if (close) to = put(buffer, to, CONNECTION_CLOSE)
  buffer[to++] = CR
  buffer[to++] = LF
  return to
}

/** Whether the copied response tells its own Strict-Transport-Security, of which there may be one (RFC 6797 7.1). */
function namesHsts(output: Buffer, head: Head): boolean {
  for (let line = 0; line < head.lines; line++) {
    if (equalsIgnoringCase(output, head.lineStarts[line]!, head.nameEnds[line]!, HSTS)) return true
  }
  return false
}
