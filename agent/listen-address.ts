import { networkInterfaces } from 'node:os'

/** The address itself, so that other networks do not reach a port; all of them if this host does not have it, as behind NAT. */
export function listenAddress(address: string): string {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return own.some((each) => each.address === address) ? address : '0.0.0.0'
}
