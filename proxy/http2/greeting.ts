import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { STREAM_WINDOW_BYTES } from './incoming-body.ts'
import type { Output } from './output.ts'
import { DEFAULT_WINDOW_BYTES, FLAG, FRAME, SETTING } from './protocol.ts'
import { settingsContent } from './settings.ts'
import { MAX_STREAMS } from './streams.ts'

/** What a client may send ahead of upstreams that read slowly, of all of a connection. */
export const CONNECTION_WINDOW_BYTES = 1024 * 1024

const SETTINGS = settingsContent([
  [SETTING.maxConcurrentStreams, MAX_STREAMS],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
  [SETTING.maxHeaderListSize, MAX_HEAD_BYTES],
  [SETTING.enableConnectProtocol, 1],
  [SETTING.noRfc7540Priorities, 1],
])
const NOTHING = Buffer.alloc(0)

/** Says what a connection begins with: what a client may do (RFC 9113 3.4). */
export function greet(output: Output): void {
  output.frame(FRAME.settings, 0, 0, SETTINGS)
  output.numberFrame(FRAME.windowUpdate, 0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)
}

/** Says that we do as the client's settings ask. */
export function acknowledgeSettings(output: Output): void {
  output.frame(FRAME.settings, FLAG.ack, 0, NOTHING)
}
