/** Numbers of HTTP/2 on the wire (RFC 9113 6, 7; RFC 8441 3; RFC 9218 2.1, 7.1). */

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  priorityUpdate: 16,
} as const

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
  noRfc7540Priorities: 9,
} as const

export const ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const

export const FRAME_HEADER_BYTES = 9
/** The frame size that every peer accepts, and the largest that we accept. */
export const MAX_FRAME_BYTES = 16 * 1024
/** The initial size of windows. */
export const DEFAULT_WINDOW_BYTES = 65_535
export const MAX_WINDOW_BYTES = 2 ** 31 - 1

/** A fault of the peer that ends the connection (RFC 9113 5.4.1), with the code that the peer gets. */
export class ConnectionFault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
