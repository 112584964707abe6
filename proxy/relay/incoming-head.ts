import { COMPLETE, HEAD_GROWTH_BYTES, Head, INCOMPLETE, MAX_HEAD_BYTES } from '../http1/head.ts'
import { parseRequestHead } from '../http1/request-head.ts'
import { slab } from '../wire/slab.ts'
import { REQUEST_ADDED_BYTES } from './forwarded-head.ts'
import type { Peer } from './peer.ts'

/** The head that was read last. It is served at once, and what is needed later is copied out. */
export const request = new Head()

/**
 * Reads the request head at `at` into `request`, and copies what is passed on to the slab. Returns `COMPLETE`,
 * `INCOMPLETE` or the status to refuse with.
 */
export function readHead({ trusted }: Peer, input: Buffer, at: number, end: number): number {
  slab.reserve(end - at + HEAD_GROWTH_BYTES + REQUEST_ADDED_BYTES)
  request.reset()
  if (trusted) request.forwarded = new Map()
  const result = parseRequestHead(input, at, end, slab.buffer, slab.at, request)
  const bytes = result === COMPLETE ? request.inputEnd - at : end - at
  const isTooLong = bytes > MAX_HEAD_BYTES && (result === COMPLETE || result === INCOMPLETE)
  return isTooLong ? 431 : result
}
