import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { isLoopback } from '../network/addresses.ts'

/**
 * The address that a request comes from. Behind our own data plane, or another proxy on this host, it is the last address in
 * `X-Forwarded-For` that is not one of the `trusted` proxies (CIDRs); a peer on another host is not trusted.
 * `X-Real-IP` is ignored: some proxies pass on what the client sent.
 */
export function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = request.socket.remoteAddress ?? ''
  if (!isLoopback(peer)) return plain(peer)
  const proxies = new BlockList()
  for (const [network, prefix] of trusted.map((cidr) => cidr.split('/') as [string, string]))
    proxies.addSubnet(network, Number(prefix), familyOf(network))
  const chain = (request.headers['x-forwarded-for']?.toString().split(',') ?? []).map((text) =>
    plain(text.trim()),
  )
  const reported = chain.findLast((address) => !proxies.check(address, familyOf(address)))
  return reported !== undefined && isIP(reported) !== 0 ? reported : plain(peer)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}
