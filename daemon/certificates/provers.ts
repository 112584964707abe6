import { publicHttpPort } from '#server/network/public-address.ts'
import type { World } from '../world.ts'
import { dnsProver } from './dns-proof.ts'
import { httpProver } from './http-proof.ts'
import type { Prover } from './order.ts'
import { tlsProver } from './tls-proof.ts'

/** Where every authority looks for the proof of HTTP-01 (RFC 8555 section 8.3). */
const CHALLENGE_PORT = 80

/**
 * How the next attempt for a name is proved: a wildcard through DNS; a host over HTTP where that is reached at its port,
 * else in a handshake; after a failure the other way.
 */
export function chooseProver(world: World, name: string, failures: number): Prover {
  if (name.startsWith('*.')) return dnsProver()
  const overHttp = (publicHttpPort() === CHALLENGE_PORT) === (failures % 2 === 0)
  return overHttp ? httpProver(world) : tlsProver(world)
}
