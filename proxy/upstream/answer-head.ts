import { CODING_ADDED_BYTES } from '../compression/answer-head.ts'
import { CR, LF, ascii, equalsIgnoringCase, put, putText } from '../http1/bytes.ts'
import { changeFields, type FieldChanges } from '../http1/change-fields.ts'
import { dropNamedLines, type Head } from '../http1/head.ts'
import { hstsLine } from '../pages/render.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'

/** The client of a head. */
interface HeadClient {
  readonly wire: Wire
  readonly request: { readonly requestId: string }
  readonly hstsSeconds: number
  readonly fieldChanges: FieldChanges | null
}

/** Room for the lines that are added to a response. */
export const ADDED_BYTES = 512 + CODING_ADDED_BYTES

const CONNECTION_CLOSE = ascii('Connection: close\r\n')
const REQUEST_ID = 'X-Request-Id: '
const HSTS = ascii('strict-transport-security')

/**
 * Removes lines meant only for the relay from a head copied to the slab; `strip` says that the body is sent without chunks.
 */
export function dropLines({ wire }: HeadClient, head: Head, keepUpgrade: boolean, strip: boolean): void {
  let names = head.connectionNames
  if (head.upgrade && !keepUpgrade) names = [...(names ?? []), 'upgrade']
  if (strip) names = [...(names ?? []), 'transfer-encoding', ...(wire.frames ? [] : ['trailer'])]
  if (names) dropNamedLines(slab.buffer, head, names)
}

/**
 * Adds the relay's own lines and the empty line to a head copied to the slab, at `to`, and makes the changes that the service
 * asked for. Returns its end.
 */
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
  const { fieldChanges } = client
  return fieldChanges ? changeFields(buffer, slab.at, to, fieldChanges) : to
}

/** Whether the copied response has its own Strict-Transport-Security; only one is allowed (RFC 6797 7.1). */
function namesHsts(output: Buffer, head: Head): boolean {
  for (let line = 0; line < head.lines; line++) {
    if (equalsIgnoringCase(output, head.lineStarts[line]!, head.nameEnds[line]!, HSTS)) return true
  }
  return false
}
