import { createPrivateKey, KeyObject, type webcrypto } from 'node:crypto'
import { useContext, useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { readSetting, writeNewSetting } from '../database/settings.ts'
import { serverIdOf } from '../server-id.ts'

const KEY = 'datastore_authority'
const YEAR_MS = 365 * 24 * 3_600_000
/** Clients are given it by hand, so that it must outlive what it certifies by far. */
const AUTHORITY_YEARS = 30
/** A program gets a new certificate at each start; few run longer than this without one. */
const CERTIFICATE_YEARS = 10
/** Clocks of clients may be behind. */
const BACKDATED_MS = 24 * 3_600_000
/** What every client of today knows. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate and its key, both PEM. */
export interface Keyed {
  certificate: string
  key: string
}

/** The names and addresses under which a certificate is good. */
export interface Subject {
  names: string[]
  addresses: string[]
}

type Library = typeof import('@peculiar/x509')

let loading: Promise<Library> | undefined

/** The library, loaded when the first certificate is made. */
function load(): Promise<Library> {
  return (loading ??= import('@peculiar/x509'))
}

/** Once made it stays, and each view of a datastore shows it: the sealed key next to it need not be opened for that. */
const certificates = new WeakMap<Database, string>()

/** The certificate of the authority of this server's datastores; null before the first of them was started. */
export function authorityCertificate(): string | null {
  const database = useDatabase()
  const certificate = certificates.get(database) ?? readAuthority()?.certificate
  if (certificate === undefined) return null
  certificates.set(database, certificate)
  return certificate
}

/** Makes a certificate for the program of a datastore, under the server's own authority, which is made with the first. */
export async function certify({ names, addresses }: Subject): Promise<Keyed> {
  const library = await load()
  const authority = readAuthority() ?? (await makeAuthority(library))
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

/** The one authority of this server: of two that are made at once the first stays. */
async function makeAuthority(library: Library): Promise<Keyed> {
  const keys = await generateKeys()
  const certificate = await library.X509CertificateGenerator.createSelfSigned(
    {
      // Clients that trust several servers tell them apart by this.
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
  const made: Keyed = { certificate: pemOf(certificate), key: keyOf(keys) }
  const sealed = Buffer.from(useContext().vault.seal(JSON.stringify(made))).toString('base64')
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
