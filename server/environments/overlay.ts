import { addressAt, numberOf, SUBNET_ADDRESSES } from '../instances/addresses.ts'
import { ownNodeId } from '../nodes/store.ts'
import { loadEnvironment, type Environment } from './store.ts'

/** An environment's network across the nodes. */
export interface Overlay {
  /** The engine's id. */
  id: string
  name: string
  subnet: string
  /** The anchor's address in it, where the server's resolver answers. */
  nameServer: string
  /** The address in it of a holder of an address of the environment's subnet: at the same offset. */
  addressOf(address: string): string
}

/** Where the resolver listens for containers of other nodes. Link-local, so that no network of a user has it. */
export const HOST_END = '169.254.77.1'

/** The address in an environment's overlay of a holder of an address of its subnet. */
export function overlayAddress(
  { name, subnet, overlay_subnet }: Pick<Environment, 'name' | 'subnet' | 'overlay_subnet'>,
  address: string,
): string {
  if (subnet === null || overlay_subnet === null) throw new Error(`${name} has no network across the nodes`)
  return addressAt(overlay_subnet, numberOf(address) - numberOf(subnet))
}

/** The address at which the host reaches what is on a node and has an address of the environment's subnet. */
export function hostOn(nodeId: string | null, environmentId: string, address: string): string {
  if (nodeId === null || nodeId === ownNodeId()) return address
  return overlayAddress(loadEnvironment(environmentId), address)
}

/** The address of an environment's subnet that has one of its two networks' addresses; null for an address of neither. */
export function addressBehind(
  { subnet, overlay_subnet }: Pick<Environment, 'subnet' | 'overlay_subnet'>,
  address: string,
): string | null {
  if (subnet === null) return null
  const offsets = [subnet, overlay_subnet].flatMap((each) =>
    each === null ? [] : numberOf(address) - numberOf(each),
  )
  const offset = offsets.find((each) => each >= 0 && each < SUBNET_ADDRESSES)
  return offset === undefined ? null : addressAt(subnet, offset)
}
