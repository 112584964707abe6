import { publicHttpPort } from '#server/network/public-address.ts'
import type { World } from '../world.ts'
import { dnsProver } from './dns-proof.ts'
import { httpProver } from './http-proof.ts'
import type { Prover } from './order.ts'
import { tlsProver } from './tls-proof.ts'

/** The port at which every authority looks for the proof of HTTP-01 (RFC 8555 section 8.3). */
const CHALLENGE_PORT = 80

/**
 * Chooses the proof for the next attempt: DNS for a wildcard; for a host HTTP if the server is reached at port 80, else a
 * TLS handshake; after a failure the other one of these two.
 */
export function chooseProver(world: World, name: string, failures: number): Prover {
  if (name.startsWith('*.')) return dnsProver()
  const overHttp = (publicHttpPort() === CHALLENGE_PORT) === (failures % 2 === 0)
  return overHttp ? httpProver(world) : tlsProver(world)
}
