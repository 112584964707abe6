import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { STREAM_WINDOW_BYTES } from './incoming-body.ts'
import type { Output } from './output.ts'
import { DEFAULT_WINDOW_BYTES, FLAG, FRAME, SETTING } from './protocol.ts'
import { settingsContent } from './settings.ts'
import { MAX_STREAMS } from './streams.ts'

/** How much a client may send ahead of upstreams that read slowly, over a whole connection. */
export const CONNECTION_WINDOW_BYTES = 1024 * 1024

const SETTINGS = settingsContent([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
  [SETTING.maxHeaderListSize, MAX_HEAD_BYTES],
  [SETTING.enableConnectProtocol, 1],
  [SETTING.noRfc7540Priorities, 1],
])
const NOTHING = Buffer.alloc(0)

/** Sends the start of a connection: our settings and the window (RFC 9113 3.4). */
export function greet(output: Output): void {
  output.frame(FRAME.settings, 0, 0, SETTINGS)
  output.numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)
}

/** Acknowledges the client's settings. */
export function acknowledgeSettings(output: Output): void {
  output.frame(FRAME.settings, FLAG.ack, 0, NOTHING)
}
