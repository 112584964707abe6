import { proofs } from '../proxy/proofs.ts'
import type { World } from '../world.ts'
import type { Prover } from './order.ts'

/** Proves control of a name by what the data plane answers over plain HTTP (RFC 8555 section 8.3). */
export function httpProver({ dataPlane }: World): Prover {
  return {
    type: 'http-01',
    async show(_name, token, keyAuthorization) {
      proofs.tokens.set(token, keyAuthorization)
      await dataPlane.sync()
      // The next route table drops it: it is not requested any more.
      return async () => void proofs.tokens.delete(token)
    },
  }
}
