import { networkInterfaces } from 'node:os'
import { listEnvironments, quarantinedSubnets } from '#server/environments/store.ts'
import { addressAt, numberOf, SUBNET_ADDRESSES } from '#server/instances/addresses.ts'
import { AppError } from '#server/errors.ts'
import { isSubnetTaken, type Engine } from '../engine/index.ts'
import { hostRoutes } from './host-routes.ts'

/** The /20 subnets are cut from here: a part of 10/8 that neither the engine's default pools nor common VPNs use. */
const POOL_BASE = '10.208.0.0'
const POOL_SUBNETS = 256
const PREFIX = 20

/** Another program may take a subnet after the networks were listed; then another one is chosen, at most this often. */
const MAX_REFUSALS = 10

/** Networks are created one after the other: two at once would choose the same subnet. */
let creating: Promise<unknown> = Promise.resolve()

/** Runs work once all that came before has ended. */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = creating.catch(() => {}).then(work)
  creating = done
  return done
}

/**
 * Has `create` make a network in a free subnet, in `former` if that is free. Throws `runtime_error` if none is, and what
 * `create` throws.
 */
export async function createInFreeSubnet(
  engine: Engine,
  former: string | null,
  create: (subnet: string) => Promise<string>,
): Promise<{ id: string; subnet: string }> {
  // The engine's list lacks networks that are just being created or removed, whose addresses are taken all the same.
  const refused: Range[] = []
  for (;;) {
    const subnet = chooseSubnet(former, [...(await takenSubnets(engine, former)), ...refused])
    try {
      return { id: await create(subnet), subnet }
    } catch (error) {
      if (refused.length === MAX_REFUSALS || !isSubnetTaken(error)) throw error
      refused.push(rangeOf(subnet))
    }
  }
}

/** The ranges that a network must not use whose subnet was `former`. */
async function takenSubnets(engine: Engine, former: string | null): Promise<Range[]> {
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
  const reserved = listEnvironments()
    .flatMap(({ subnet, overlay_subnet }) => [subnet, overlay_subnet])
    .flatMap((subnet) => (subnet === null || subnet === former ? [] : [subnet]))
  return [...ofHost, ...[...ofEngine, ...reserved, ...quarantinedSubnets()].map(rangeOf)]
}

/** The subnet that the network had, if it is free, else the first free one. */
function chooseSubnet(former: string | null, taken: readonly Range[]): string {
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
