import { createPrivateKey, KeyObject, type webcrypto } from 'node:crypto'
import { useContext, useDatabase } from './context.ts'
import type { Database } from './database/index.ts'
import { readSetting, removeSetting, writeNewSetting } from './database/settings.ts'
import { serverIdOf } from './server-id.ts'

const YEAR_MS = 365 * 24 * 3_600_000
/** People install some in clients by hand, so they must far outlive the certificates that they issue. */
const AUTHORITY_YEARS = 30
/** The clocks of clients may be behind. */
const BACKDATED_MS = 24 * 3_600_000
/** Supported by every current client. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate and its key, both PEM. */
export interface Keyed {
  certificate: string
  key: string
}

/** Whom a certificate is for. */
export interface Subject {
  names: string[]
  addresses: string[]
  /** How long it is valid. */
  lastsMs: number
  /** Whether it is also shown by a client. */
  isClient?: boolean
}

type Library = typeof import('@peculiar/x509')

let loading: Promise<Library> | undefined

/** Loads the library when the first certificate is needed. */
function load(): Promise<Library> {
  return (loading ??= import('@peculiar/x509'))
}

/** A certificate authority of this server alone, for one purpose. It is created on first use and kept, sealed, in the database. */
export class PrivateAuthority {
  readonly #setting: string
  readonly #purpose: string
  /** The certificate never changes and is often shown: caching saves decrypting the key that is stored with it. */
  readonly #certificates = new WeakMap<Database, string>()

  /** `purpose` is a part of its name: clients that trust several authorities distinguish them by that. */
  constructor(setting: string, purpose: string) {
    this.#setting = setting
    this.#purpose = purpose
  }

  /** Its certificate; null before it is created. */
  certificate(): string | null {
    const database = useDatabase()
    const certificate = this.#certificates.get(database) ?? this.#read()?.certificate
    if (certificate === undefined) return null
    this.#certificates.set(database, certificate)
    return certificate
  }

  /** Creates it unless it exists. */
  async provide(): Promise<void> {
    if (this.certificate() === null) await this.#create(await load())
  }

  /** Forgets it; the next use creates another one. */
  forget(): void {
    removeSetting(useDatabase(), this.#setting)
    this.#certificates.delete(useDatabase())
  }

  async certify({ names, addresses, lastsMs, isClient = false }: Subject): Promise<Keyed> {
    const library = await load()
    const authority = this.#read() ?? (await this.#create(library))
    const issuer = new library.X509Certificate(authority.certificate)
    const keys = await generateKeys()
    const notAfter = Math.min(Date.now() + lastsMs, issuer.notAfter.getTime())
    const usages = [
      library.ExtendedKeyUsage.serverAuth,
      ...(isClient ? [library.ExtendedKeyUsage.clientAuth] : []),
    ]
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
          new library.ExtendedKeyUsageExtension(usages),
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

  /** Of two that are created at once the first stays. */
  async #create(library: Library): Promise<Keyed> {
    const keys = await generateKeys()
    const certificate = await library.X509CertificateGenerator.createSelfSigned(
      {
        name: `CN=Deployer ${this.#purpose} ${serverIdOf(useDatabase())}`,
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
    writeNewSetting(useDatabase(), this.#setting, sealed)
    return this.#read()!
  }

  #read(): Keyed | null {
    const sealed = readSetting(useDatabase(), this.#setting)
    return sealed ? (JSON.parse(useContext().vault.open(Buffer.from(sealed, 'base64'))) as Keyed) : null
  }
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
