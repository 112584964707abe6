import { FOLDED, ascii, equalsFolded } from './bytes.ts'

export const DROPPED = 1
export const HOST = 2
export const CONTENT_LENGTH = 3
export const TRANSFER_ENCODING = 4
export const CONNECTION = 5
export const UPGRADE = 6
export const EXPECT = 7
export const REQUEST_ID = 8
export const FORWARDED_FIELD = 9
export const CLAIM = 10
export const KEEP_ALIVE = 11

const NAMES = {
  te: ascii('te'),
  host: ascii('host'),
  expect: ascii('expect'),
  upgrade: ascii('upgrade'),
  connection: ascii('connection'),
  keepAlive: ascii('keep-alive'),
  forwarded: ascii('forwarded'),
  realIp: ascii('x-real-ip'),
  requestId: ascii('x-request-id'),
  contentLength: ascii('content-length'),
  http2Settings: ascii('http2-settings'),
  forwardedPrefix: ascii('x-forwarded-'),
  proxyConnection: ascii('proxy-connection'),
  transferEncoding: ascii('transfer-encoding'),
}

/**
 * Fields in which proxies tell an application about the client and the request. Applications trust them, so they pass only
 * if they come from trusted proxies.
 */
export const CLAIMED = [
  'client-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'fastly-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
]
const CLAIMED_BY_LENGTH = Map.groupBy(CLAIMED.map(ascii), ({ length }) => length)
/** CGI programs get a `Proxy` field as their variable HTTP_PROXY (CVE-2016-5385). */
const PROXY = ascii('proxy')

function isClaim(input: Uint8Array, start: number, end: number): boolean {
  for (const name of CLAIMED_BY_LENGTH.get(end - start) ?? [])
    if (equalsFolded(input, start, end, name)) return true
  return false
}

/** Returns what a field with this name means to the relay; 0 for nothing. */
export function kindOf(input: Uint8Array, start: number, end: number, request: boolean): number {
  const length = end - start
  if (
    request &&
    length >= 12 &&
    FOLDED[input[start]!] === 120 &&
    equalsFolded(input, start, start + 12, NAMES.forwardedPrefix)
  ) {
    return FORWARDED_FIELD
  }
  if (request && isClaim(input, start, end)) return CLAIM
  switch (length) {
    case 2:
      return equalsFolded(input, start, end, NAMES.te) ? DROPPED : 0
    case 4:
      return request && equalsFolded(input, start, end, NAMES.host) ? HOST : 0
    case 5:
      return request && equalsFolded(input, start, end, PROXY) ? DROPPED : 0
    case 6:
      return request && equalsFolded(input, start, end, NAMES.expect) ? EXPECT : 0
    case 7:
      return equalsFolded(input, start, end, NAMES.upgrade) ? UPGRADE : 0
    case 9:
      if (!request) return 0
      return equalsFolded(input, start, end, NAMES.forwarded) || equalsFolded(input, start, end, NAMES.realIp)
        ? DROPPED
        : 0
    case 10:
      if (equalsFolded(input, start, end, NAMES.connection)) return CONNECTION
      return equalsFolded(input, start, end, NAMES.keepAlive) ? KEEP_ALIVE : 0
    case 12:
      return equalsFolded(input, start, end, NAMES.requestId) ? REQUEST_ID : 0
    case 14:
      if (equalsFolded(input, start, end, NAMES.contentLength)) return CONTENT_LENGTH
      return equalsFolded(input, start, end, NAMES.http2Settings) ? DROPPED : 0
    case 16:
      return equalsFolded(input, start, end, NAMES.proxyConnection) ? DROPPED : 0
    case 17:
      return equalsFolded(input, start, end, NAMES.transferEncoding) ? TRANSFER_ENCODING : 0
    default:
      return 0
  }
}
