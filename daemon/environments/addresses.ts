import { addressAt, numberOf, type allotAddress } from '#server/instances/addresses.ts'
import type { Engine } from '../engine/index.ts'
import type { Network } from './networks.ts'

/**
 * The address, in the environment's subnet, of a container that is about to start: its own, or another one if a container
 * that the database does not know has it, which can happen after older data was restored.
 */
export async function addressFor(
  engine: Engine,
  allot: typeof allotAddress,
  environmentId: string,
  network: Network,
  holder: string,
): Promise<string> {
  const found = await engine.networks.inspect(network.id)
  const others = found?.containers.filter(({ name }) => name !== holder)
  const first = numberOf(network.addressOf(addressAt(network.subnet, 0)))
  const taken = others?.map(({ address }) => addressAt(network.subnet, numberOf(address) - first))
  return allot(environmentId, network.subnet, holder, taken)
}
