import { PrivateAuthority, type Keyed } from '../private-authority.ts'

export type { Keyed } from '../private-authority.ts'

/** A program gets a new certificate at each start; few run longer than this without a restart. */
const CERTIFICATE_MS = 10 * 365 * 24 * 3_600_000

const authority = new PrivateAuthority('datastore_authority', 'datastores')

/** The certificate of the authority for this server's datastores; null before the first of them is created. */
export function authorityCertificate(): string | null {
  return authority.certificate()
}

/** Creates the authority unless it exists, so that variables can refer to its certificate before a datastore has started. */
export function provideAuthority(): Promise<void> {
  return authority.provide()
}

/**
 * Issues a certificate for a datastore's program, valid for these names and addresses, from the server's own authority, which
 * is created on first use.
 */
export function certify(subject: { names: string[]; addresses: string[] }): Promise<Keyed> {
  return authority.certify({ ...subject, lastsMs: CERTIFICATE_MS })
}
