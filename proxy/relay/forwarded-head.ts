import { CR, LF, ascii, put, putText } from './bytes.ts'
import { dropNamedLines, latin1, type Head } from './head.ts'
import type { Peer } from './peer.ts'
import type { Routes } from './routes.ts'

/** Room for the fields that are added to a request. */
export const REQUEST_ADDED_BYTES = 2 * 1024

const REQUEST_ID = ascii('\r\nX-Request-Id: ')
const CONNECTION_UPGRADE = ascii('Connection: upgrade\r\n')

/** What a request is sent on with. */
export interface Forwarding {
  peer: Peer
  routes: Routes
  requestId: string
  /** `Upgrade` goes on. */
  upgrading: boolean
  /** `Expect: 100-continue` goes on. */
  expecting: boolean
}

/**
 * Completes the copied head in `output`: takes out what goes no further, adds the fields that the relay sets and the
 * empty line. Answers its end.
 */
export function finishRequestHead(
  head: Head,
  input: Uint8Array,
  output: Uint8Array,
  forwarding: Forwarding,
): number {
  const { peer, routes, requestId, upgrading, expecting } = forwarding
  let names = head.connectionNames
  if (head.upgrade && !upgrading) names = [...(names ?? []), 'upgrade']
  if (head.expectsContinue && !expecting) names = [...(names ?? []), 'expect']
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
