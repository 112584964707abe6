import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { useDatabase } from '#server/context.ts'
import {
  findEnvironment,
  listEnvironments,
  quarantineSubnet,
  quarantinedSubnets,
  setSubnet,
  type Environment,
} from '#server/environments/store.ts'
import { addressAt, moveAddresses, numberOf } from '#server/instances/addresses.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { isSubnetTaken, type Engine } from '../engine/index.ts'
import type { World } from '../world.ts'
import { hostRoutes } from './host-routes.ts'
import { guardSubnet } from './metadata.ts'

const log = logger('environments')

/** The /20 subnets are cut from here: a part of 10/8 that neither the engine's default pools nor common VPNs use. */
const POOL_BASE = '10.208.0.0'
const POOL_SUBNETS = 256
const SUBNET_ADDRESSES = 4_096
const PREFIX = 20

/** Another program may take a subnet after the networks were listed; then another one is chosen, at most this often. */
const MAX_REFUSALS = 10

const NETWORK_PREFIX = 'deployer-'

export interface Network {
  /** The engine's id. */
  id: string
  name: string
  subnet: string
}

/** The engine's name of an environment's network. */
export function networkName(environment: Pick<Environment, 'id'>): string {
  return `${NETWORK_PREFIX}${environment.id}`
}

/** The environment whose network has this name. */
export function environmentOf(name: string): string {
  return name.slice(NETWORK_PREFIX.length)
}

/** Networks are created one after the other: two at once would choose the same subnet. */
let creating: Promise<unknown> = Promise.resolve()

/**
 * Makes sure that an environment's private network exists, with a subnet that the server chose and recorded.
 * Throws `runtime_error` when the engine fails, `not_found` when the environment was deleted in the meantime.
 */
export async function ensureNetwork(world: World, environment: Environment): Promise<Network> {
  const network = await findOrCreate(world.engine, environment)
  await guardSubnet(world, network.subnet)
  return network
}

async function findOrCreate(engine: Engine, environment: Environment): Promise<Network> {
  const name = networkName(environment)
  const existing = await engine.networks.inspect(name)
  if (existing?.subnet && existing.subnet === environment.subnet)
    return { id: existing.id, name, subnet: existing.subnet }
  const created = creating.catch(() => {}).then(() => createNetwork(engine, findEnvironment(environment.id)))
  creating = created
  return created
}

async function createNetwork(engine: Engine, environment: Environment): Promise<Network> {
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
  // The engine's list lacks networks that are just being created or removed, whose addresses are taken all the same.
  const refused: Range[] = []
  for (;;) {
    const subnet = chooseSubnet(environment, [...(await takenSubnets(engine, environment)), ...refused])
    const gateway = addressAt(subnet, 1)
    const labels = { 'deployer.environment': environment.id }
    try {
      const id = await engine.networks.create({ name, subnet, gateway, labels })
      recordSubnet(environment, subnet)
      return { id, name, subnet }
    } catch (error) {
      if (refused.length === MAX_REFUSALS || !isSubnetTaken(error)) throw error
      refused.push(rangeOf(subnet))
    }
  }
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

/** The ranges that an environment's network must not use. */
async function takenSubnets(engine: Engine, { id }: Environment): Promise<Range[]> {
  const networks = await engine.networks.list()
  const ofEngine = networks.flatMap(({ subnet }) => (subnet ? [subnet] : []))
  const ofInterfaces = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).flatMap(({ family, cidr }) => (family === 'IPv4' && cidr ? [cidr] : [])),
  )
  // A route to the whole pool, such as a company's 10.0.0.0/8, would leave nothing; the network's own route wins over it.
  const pool = rangeOf(`${POOL_BASE}/${PREFIX - Math.log2(POOL_SUBNETS)}`)
  const ofHost = [...ofInterfaces, ...(await hostRoutes())]
    .map(rangeOf)
    .filter(({ first, last }) => first > pool.first || last < pool.last)
  const reserved = listEnvironments().flatMap((other) =>
    other.subnet && other.id !== id ? [other.subnet] : [],
  )
  return [...ofHost, ...[...ofEngine, ...reserved, ...quarantinedSubnets()].map(rangeOf)]
}

/** The subnet that the network had, if it is free, else the first free one. */
function chooseSubnet({ subnet: former }: Environment, taken: readonly Range[]): string {
  const isFree = (subnet: string): boolean => {
    const { first, last } = rangeOf(subnet)
    return !taken.some((range) => range.first <= last && first <= range.last)
  }
  // The engine creates a bridge even with addresses that the host has elsewhere, and the host would use the other route.
  if (former !== null && isFree(former)) return former
  for (let index = 0; index < POOL_SUBNETS; index++) {
    const subnet = `${addressAt(`${POOL_BASE}/${PREFIX}`, index * SUBNET_ADDRESSES)}/${PREFIX}`
    if (isFree(subnet)) return subnet
  }
  throw new AppError(
    'runtime_error',
    `all ${POOL_SUBNETS} /${PREFIX} subnets from ${POOL_BASE} are taken, so a private network cannot be created: delete an environment that is not needed; its subnet is free an hour later`,
  )
}

interface Range {
  first: number
  last: number
}

function rangeOf(cidr: string): Range {
  const size = 2 ** (32 - Number(cidr.split('/')[1]))
  const first = Math.floor(numberOf(cidr) / size) * size
  return { first, last: first + size - 1 }
}
