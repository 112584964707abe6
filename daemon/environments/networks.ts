import { once } from 'node:events'
import { createServer } from 'node:net'
import { useDatabase } from '#server/context.ts'
import type { Overlay } from '#server/environments/overlay.ts'
import { loadEnvironment, quarantineSubnet, setSubnet, type Environment } from '#server/environments/store.ts'
import { addressAt, moveAddresses } from '#server/instances/addresses.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import type { ContainerSpec, Engine } from '../engine/index.ts'
import type { World } from '../world.ts'
import { guardSubnet } from './metadata.ts'
import { networkName } from './names.ts'
import { ensureOverlay } from './overlays.ts'
import { createInFreeSubnet, inTurn } from './subnets.ts'

const log = logger('environments')

/** An environment's private network, as the containers of one node see it. */
export interface Network {
  /** The engine's id. */
  id: string
  name: string
  /** The environment's subnet, from which addresses are allotted. */
  subnet: string
  /** The address in this network of a holder of an address of the environment's subnet. */
  addressOf(address: string): string
  /** The name server of the containers of another node. */
  nameServer?: string
  /** What containers of the server's own node are in besides, while there are other nodes. */
  overlay: Overlay | null
}

/** The bridge of the server's own node. */
type Bridge = Pick<Network, 'id' | 'name' | 'subnet'>

/**
 * Makes sure that an environment's private network exists on the server's own node, with a subnet that the server chose and
 * recorded. Throws `runtime_error` when the engine fails, `not_found` when the environment was deleted in the meantime.
 */
export async function ensureNetwork(world: World, environment: Environment): Promise<Network> {
  const bridge = await findOrCreate(world.engine, environment)
  await guardSubnet(world, bridge.subnet)
  // Containers start without it, and join it once it is there; the task that looks after overlays says what is wrong.
  const overlay = await ensureOverlay(world, environment).catch(() => null)
  return { ...bridge, addressOf: (address) => address, overlay }
}

/** The private network of an environment on a node. Throws as `ensureNetwork` does, and if the node cannot be reached. */
export async function ensureNetworkOn(
  world: World,
  environment: Environment,
  nodeId: string,
): Promise<Network> {
  if (nodeId === ownNodeId()) return ensureNetwork(world, environment)
  const { subnet } = await findOrCreate(world.engine, environment)
  const overlay = await ensureOverlay(world, loadEnvironment(environment.id))
  if (!overlay) throw new AppError('runtime_error', `there is no node ${nodeId}`)
  return { ...overlay, subnet, overlay: null }
}

/** What a container needs to be in a network, at an address of the environment's subnet. */
export function placeIn(
  network: Network,
  address: string,
): { address: string } & Pick<ContainerSpec, 'network' | 'joined'> {
  const { name, overlay } = network
  return {
    network: name,
    address: network.addressOf(address),
    ...(overlay && { joined: [{ network: overlay.name, address: overlay.addressOf(address) }] }),
  }
}

async function findOrCreate(engine: Engine, environment: Environment): Promise<Bridge> {
  const name = networkName(environment)
  const existing = await engine.networks.inspect(name)
  if (existing?.subnet && existing.subnet === environment.subnet)
    return { id: existing.id, name, subnet: existing.subnet }
  return inTurn(() => createNetwork(engine, loadEnvironment(environment.id)))
}

async function createNetwork(engine: Engine, environment: Environment): Promise<Bridge> {
  const name = networkName(environment)
  const existing = await engine.networks.inspect(name)
  if (existing) {
    const subnet = existing.subnet ?? environment.subnet
    if (subnet === null)
      throw new AppError(
        'runtime_error',
        `the network ${name} has no IPv4 subnet: remove it, and it will be created again`,
      )
    recordSubnet(environment, subnet)
    return { id: existing.id, name, subnet }
  }
  const labels = { 'deployer.environment': environment.id }
  const created = await createInFreeSubnet(engine, environment.subnet, (subnet) =>
    engine.networks.create({ name, subnet, gateway: addressAt(subnet, 1), labels }),
  )
  recordSubnet(environment, created.subnet)
  return { ...created, name }
}

/** Records the subnet of a network; addresses in a former subnet are moved to it. */
function recordSubnet(environment: Environment, subnet: string): void {
  const former = environment.subnet
  if (subnet === former) return
  useDatabase().transaction(() => {
    setSubnet(environment.id, subnet)
    if (former === null) return
    moveAddresses(environment.id, former, subnet)
    quarantineSubnet(former)
  })
  if (former !== null)
    log.warn('the subnet of a private network changed', { environment: environment.name, former, subnet })
}

/**
 * Whether the gateway's address of a subnet is the host's own, so that containers can be reached by address. Binds the
 * address to find out, since the list of interfaces leaves out a bridge without containers.
 */
export async function isGatewayLocal(subnet: string): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ host: addressAt(subnet, 1), port: 0 })
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
