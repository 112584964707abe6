import { createHash, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_NAME, type Identity } from '#agent/protocol.ts'
import { writePrivateFile } from '#server/files.ts'
import { PrivateAuthority } from '#server/private-authority.ts'

const DAY_MS = 24 * 3_600_000
/** How long a certificate between machines, and of the registry, is valid. */
export const CERTIFICATE_MS = 90 * DAY_MS
/** A certificate is replaced when less than this is left. */
const RENEW_BEFORE_MS = 30 * DAY_MS

const authority = new PrivateAuthority('node_authority', 'nodes')

/** The certificate and key of a node's agent, for its id. */
export function certifyNode(nodeId: string): Promise<Identity> {
  return certifyName(nodeId)
}

/**
 * The certificate and key of the server, which it shows to its nodes and they check. Kept in `folder`, so that a command for a
 * new machine, which names the key, holds across a restart.
 */
export async function serverIdentity(folder: string): Promise<Identity> {
  const trusted = await authorityCertificate()
  const file = join(folder, 'server.json')
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Identity) : null
  if (kept && kept.authority === trusted && !isEndingAt(endOf(kept.certificate))) return kept
  const identity = await certifyName(SERVER_NAME)
  writePrivateFile(file, JSON.stringify(identity))
  return identity
}

/** The certificate of the authority, which is created on first use. */
export async function authorityCertificate(): Promise<string> {
  await authority.provide()
  return authority.certificate()!
}

/** Forgets the authority, in place of which there is a new one when it is next needed: all that it has certified ends. */
export function renewAuthority(): void {
  authority.forget()
}

/** When a certificate ends. */
export function endOf(certificate: string): number {
  return new X509Certificate(certificate).validToDate.getTime()
}

/** Whether a certificate that ends then must be replaced now. */
export function isEndingAt(endsAt: number, now = Date.now()): boolean {
  return !(endsAt - now > RENEW_BEFORE_MS)
}

/** The digest of a certificate's public key, as curl's `--pinnedpubkey` takes it. */
export function pinOf(certificate: string): string {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  return `sha256//${createHash('sha256').update(spki).digest('base64')}`
}

async function certifyName(name: string): Promise<Identity> {
  const keyed = await authority.certify({
    names: [name],
    addresses: [],
    lastsMs: CERTIFICATE_MS,
    isClient: true,
  })
  return { ...keyed, authority: authority.certificate()! }
}
