import type { ControlRequests } from '../protocol.ts'
import type { Channel } from './channel.ts'

/** Sends one request to the data plane over its control socket. Throws `ChannelError`. */
export function ask<Name extends keyof ControlRequests>(
  channel: Channel,
  name: Name,
  body: ControlRequests[Name]['ask'],
  timeoutMs: number,
): Promise<ControlRequests[Name]['answer']> {
  return channel.request(name, body, timeoutMs) as Promise<ControlRequests[Name]['answer']>
}
