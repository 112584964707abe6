import type { Identity } from '#agent/protocol.ts'
import { PrivateAuthority } from '#server/private-authority.ts'
import { CERTIFICATE_MS } from './authority.ts'

/** The name in the registry's certificate. */
export const REGISTRY_NAME = 'registry.deployer'
const CALLER_NAME = 'caller.deployer'

/** Apart from that of the nodes, whose certificates are not to open the registry. */
const authority = new PrivateAuthority('registry_authority', 'registry')

/** What the registry shows, and checks callers by. */
export function certifyRegistry(): Promise<Identity> {
  return certify(REGISTRY_NAME)
}

/** What the server shows to the registry. */
export function certifyCaller(): Promise<Identity> {
  return certify(CALLER_NAME)
}

async function certify(name: string): Promise<Identity> {
  const keyed = await authority.certify({
    names: [name],
    addresses: [],
    lastsMs: CERTIFICATE_MS,
    isClient: name === CALLER_NAME,
  })
  return { ...keyed, authority: authority.certificate()! }
}
