import { ConnectionFault, ERROR, MAX_FRAME_BYTES, MAX_WINDOW_BYTES, SETTING } from './protocol.ts'

const SETTING_BYTES = 6
const LARGEST_FRAME_BYTES = 2 ** 24 - 1
/** RFC 9113 6.5.2, RFC 8441 3, RFC 9218 2.1. */
const SWITCHES: readonly number[] = [
  SETTING.enablePush,
  SETTING.enableConnectProtocol,
  SETTING.noRfc7540Priorities,
]

/** The client's settings that affect what is sent to it. */
export interface PeerSettings {
  /** In order: entries that do not fit into the smallest are evicted (RFC 7541 4.2). */
  readonly headerTableSizes: number[]
  initialWindowSize?: number
}

/** Reads the content of a SETTINGS frame in `bytes[start, end)`. Throws ConnectionFault. */
export function readSettings(bytes: Buffer, start: number, end: number): PeerSettings {
  if ((end - start) % SETTING_BYTES !== 0)
    throw new ConnectionFault(ERROR.frameSize, 'SETTINGS of invalid length')
  const settings: PeerSettings = { headerTableSizes: [] }
  for (let at = start; at < end; at += SETTING_BYTES)
    read(settings, bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2))
  return settings
}

/** Reads one setting (RFC 9113 6.5.2); unknown ones are ignored. */
function read(settings: PeerSettings, id: number, value: number): void {
  if (id === SETTING.headerTableSize) settings.headerTableSizes.push(value)
  else if (id === SETTING.initialWindowSize) {
    if (value > MAX_WINDOW_BYTES) throw new ConnectionFault(ERROR.flowControl, 'a window is too large')
    settings.initialWindowSize = value
  } else if (id === SETTING.maxFrameSize) {
    if (value < MAX_FRAME_BYTES || value > LARGEST_FRAME_BYTES)
      throw new ConnectionFault(ERROR.protocol, 'an invalid frame size')
  } else if (SWITCHES.includes(id) && value > 1)
    throw new ConnectionFault(ERROR.protocol, 'a switch that is neither 0 nor 1')
}

/** Returns the content of a SETTINGS frame. */
export function settingsContent(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const content = Buffer.alloc(settings.length * SETTING_BYTES)
  let at = 0
  for (const [id, value] of settings) at = content.writeUInt32BE(value, content.writeUInt16BE(id, at))
  return content
}
