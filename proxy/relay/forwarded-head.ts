import { CR, LF, ascii, put, putText, latin1 } from '../http1/bytes.ts'
import { dropNamedLines, type Head } from '../http1/head.ts'
import type { Routes } from '../routes/routes.ts'
import type { CurrentRequest } from './current-request.ts'
import type { Peer } from './peer.ts'

/** Room for the fields that are added to a request, among them the chain of addresses with the client's. */
export const REQUEST_ADDED_BYTES = 4 * 1024

const REQUEST_ID = ascii('\r\nX-Request-Id: ')
const CONNECTION_UPGRADE = ascii('Connection: upgrade\r\n')

/**
 * Completes the copied head in `output`: removes the fields that are not passed on, adds those that the relay sets, and the
 * empty line. Returns the end.
 */
export function finishRequestHead(
  head: Head,
  input: Uint8Array,
  output: Uint8Array,
  peer: Peer,
  routes: Routes,
  { requestId, upgrading, expects }: CurrentRequest,
): number {
  let names = head.connectionNames
  if (head.upgrade && !upgrading) names = [...(names ?? []), 'upgrade']
  if (head.expectsContinue && !expects) names = [...(names ?? []), 'expect']
  if (names) dropNamedLines(output, head, names)
  let to = head.outputEnd
  if (head.forwarded) {
    to = putText(
      output,
      to,
      peer.forwardedFields(head.forwarded, latin1(input, head.hostStart, head.hostEnd), routes),
    )
  } else {
    output.set(peer.fields, to)
    to += peer.fields.length
    for (let at = head.hostStart; at < head.hostEnd; at++) output[to++] = input[at]!
  }
  to = put(output, to, REQUEST_ID)
  to = putText(output, to, requestId)
  output[to++] = CR
  output[to++] = LF
  if (upgrading) to = put(output, to, CONNECTION_UPGRADE)
  output[to++] = CR
  output[to++] = LF
  return to
}
