import { writeChallenge } from '#server/certificates/files.ts'
import { proofs } from '../proxy/proofs.ts'
import type { World } from '../world.ts'
import { loadAcme } from './authority.ts'
import type { Prover } from './order.ts'

/** Proves control of a name by the certificate that the data plane shows in a handshake with the authority (RFC 8737). */
export function tlsProver({ dataPlane }: World): Prover {
  return {
    type: 'tls-alpn-01',
    async show(name, _token, keyAuthorization, authorization) {
      const { crypto } = await loadAcme()
      const key = await crypto.createPrivateEcdsaKey('P-256')
      const [, certificate] = await crypto.createAlpnCertificate(authorization, keyAuthorization, key)
      const { remove, ...files } = writeChallenge(certificate.toString(), key.toString())
      proofs.handshakes.set(name, files)
      await dataPlane.sync()
      return async () => {
        proofs.handshakes.delete(name)
        await dataPlane.sync()
        remove()
      }
    },
  }
}
