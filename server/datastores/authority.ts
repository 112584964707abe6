import { createPrivateKey, KeyObject, type webcrypto } from 'node:crypto'
import { useContext, useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { readSetting, writeNewSetting } from '../database/settings.ts'
import { serverIdOf } from '../server-id.ts'

const KEY = 'datastore_authority'
const YEAR_MS = 365 * 24 * 3_600_000
/** People install it in clients by hand, so it must far outlive the certificates that it issues. */
const AUTHORITY_YEARS = 30
/** A program gets a new certificate at each start; few run longer than this without a restart. */
const CERTIFICATE_YEARS = 10
/** The clocks of clients may be behind. */
const BACKDATED_MS = 24 * 3_600_000
/** Supported by every current client. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate and its key, both PEM. */
export interface Keyed {
  certificate: string
  key: string
}

/** The names and addresses that a certificate is valid for. */
export interface Subject {
  names: string[]
  addresses: string[]
}

type Library = typeof import('@peculiar/x509')

let loading: Promise<Library> | undefined

/** Loads the library when the first certificate is needed. */
function load(): Promise<Library> {
  return (loading ??= import('@peculiar/x509'))
}

/** It never changes, and each view of a datastore shows it: caching saves decrypting the key that is stored with it. */
const certificates = new WeakMap<Database, string>()

/** The certificate of the authority for this server's datastores; null before the first of them is created. */
export function authorityCertificate(): string | null {
  const database = useDatabase()
  const certificate = certificates.get(database) ?? readAuthority()?.certificate
  if (certificate === undefined) return null
  certificates.set(database, certificate)
  return certificate
}

/** Creates the authority unless it exists, so that variables can refer to its certificate before a datastore has started. */
export async function provideAuthority(): Promise<void> {
  if (authorityCertificate() === null) await createAuthority(await load())
}

/** Issues a certificate for a datastore's program from the server's own authority, which is created on first use. */
export async function certify({ names, addresses }: Subject): Promise<Keyed> {
  const library = await load()
  const authority = readAuthority() ?? (await createAuthority(library))
  const issuer = new library.X509Certificate(authority.certificate)
  const keys = await generateKeys()
  const notAfter = Math.min(Date.now() + CERTIFICATE_YEARS * YEAR_MS, issuer.notAfter.getTime())
  const certificate = await library.X509CertificateGenerator.create(
    {
      subject: `CN=${names[0]}`,
      issuer: issuer.subject,
      notBefore: backdated(),
      notAfter: new Date(notAfter),
      publicKey: keys.publicKey,
      signingKey: createPrivateKey(authority.key).toCryptoKey(ALGORITHM, false, ['sign']),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new library.BasicConstraintsExtension(false, undefined, true),
        new library.KeyUsagesExtension(library.KeyUsageFlags.digitalSignature, true),
        new library.ExtendedKeyUsageExtension([library.ExtendedKeyUsage.serverAuth]),
        new library.SubjectAlternativeNameExtension([
          ...names.map((value) => ({ type: 'dns' as const, value })),
          ...addresses.map((value) => ({ type: 'ip' as const, value })),
        ]),
        await library.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, crypto),
      ],
    },
    crypto,
  )
  return { certificate: pemOf(certificate), key: keyOf(keys) }
}

/** Creates the server's one authority: of two that are created at once the first stays. */
async function createAuthority(library: Library): Promise<Keyed> {
  const keys = await generateKeys()
  const certificate = await library.X509CertificateGenerator.createSelfSigned(
    {
      // Clients that trust several servers distinguish them by this.
      name: `CN=Deployer datastores ${serverIdOf(useDatabase())}`,
      notBefore: backdated(),
      notAfter: new Date(Date.now() + AUTHORITY_YEARS * YEAR_MS),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new library.BasicConstraintsExtension(true, 0, true),
        new library.KeyUsagesExtension(library.KeyUsageFlags.keyCertSign, true),
        await library.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
      ],
    },
    crypto,
  )
  const created: Keyed = { certificate: pemOf(certificate), key: keyOf(keys) }
  const sealed = Buffer.from(useContext().vault.seal(JSON.stringify(created))).toString('base64')
  writeNewSetting(useDatabase(), KEY, sealed)
  return readAuthority()!
}

function readAuthority(): Keyed | null {
  const sealed = readSetting(useDatabase(), KEY)
  return sealed ? (JSON.parse(useContext().vault.open(Buffer.from(sealed, 'base64'))) as Keyed) : null
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

function backdated(): Date {
  return new Date(Date.now() - BACKDATED_MS)
}

function pemOf(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem')}\n`
}

function keyOf({ privateKey }: webcrypto.CryptoKeyPair): string {
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' })
}
