import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'

/** What a certificate says about itself. */
export interface CertificateFacts {
  hosts: string[]
  issuer: string
  notBefore: number
  notAfter: number
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** serverAuth and anyExtendedKeyUsage (RFC 5280 section 4.2.1.12). */
const SERVER_PURPOSES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']

/** The certificates in a PEM text. Throws an `Error` for a block that is not a certificate. */
function readChain(pem: string): X509Certificate[] {
  return (pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text))
}

function factsOf(leaf: X509Certificate): CertificateFacts {
  return {
    hosts: [...(leaf.subjectAltName ?? '').matchAll(/DNS:([^,\s"]+)/g)].map(([, name]) =>
      name!.toLowerCase(),
    ),
    issuer: /^(?:CN|O)=(.+)$/m.exec(leaf.issuer)?.[1] ?? leaf.issuer,
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo),
  }
}

/** Key types that TLS has but browsers do not accept in a certificate. */
const UNKNOWN_TO_BROWSERS: Record<string, string> = { ed25519: 'Ed25519', ed448: 'Ed448' }

/** Why browsers refuse a chain that other clients accept; null when they do not. */
export function browserWarning(chain: string): string | null {
  const name = readChain(chain)
    .map(({ publicKey }) => UNKNOWN_TO_BROWSERS[publicKey.asymmetricKeyType ?? ''])
    .find((found) => found !== undefined)
  return name === undefined
    ? null
    : `its key is ${name}, which browsers refuse: upload one with an ECDSA (P-256) or RSA key`
}

/** A chain in order, with the key of its first certificate. */
export interface KeyedChain {
  chain: string
  key: string
  facts: CertificateFacts
}

/**
 * Puts a chain in order, starting with the key's certificate. Certificates that do not belong to it are refused or left out,
 * since authorities also send some for old devices. Throws an `Error` that says what is wrong.
 */
export function assembleChain(
  certificatePem: string,
  keyPem: string,
  strangers: 'refused' | 'left out' = 'refused',
): KeyedChain {
  let certificates: X509Certificate[]
  try {
    certificates = readChain(certificatePem)
  } catch {
    throw new Error('certificate: contains something that is not a certificate')
  }
  if (certificates.length === 0) throw new Error('certificate: contains no PEM certificate')
  const key = readKey(keyPem)
  const leaf = certificates.find((certificate) => certificate.checkPrivateKey(key))
  if (!leaf) throw new Error('private_key: does not belong to any of the certificates')
  if (!isForServers(leaf))
    throw new Error('certificate: browsers refuse it: it is not for servers (extendedKeyUsage)')
  const facts = factsOf(leaf)
  if (facts.hosts.length === 0) throw new Error('certificate: names no host (subjectAltName)')
  if (facts.notAfter <= Date.now())
    throw new Error(`certificate: expired at ${new Date(facts.notAfter).toISOString()}`)
  const ordered = inOrder(leaf, certificates, strangers)
  return {
    chain: ordered.map((certificate) => certificate.toString()).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    facts,
  }
}

/** Whether a certificate may be used by servers. One that names no purpose is for all of them. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  const purposes = keyUsage as string[] | undefined
  return purposes === undefined || purposes.some((purpose) => SERVER_PURPOSES.includes(purpose))
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new Error('private_key: is not a PEM private key without a passphrase')
  }
}

/**
 * Orders a chain from the leaf to the last issuer it has, nearer ones first. An authority that two others have signed is
 * in it twice, and both paths stay: some clients trust the root of one, some that of the other.
 */
function inOrder(
  leaf: X509Certificate,
  certificates: readonly X509Certificate[],
  strangers: 'refused' | 'left out',
): X509Certificate[] {
  const left = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]))
  left.delete(leaf.fingerprint256)
  const ordered = [leaf]
  // The list grows while it is iterated.
  for (const issued of ordered) {
    for (const [fingerprint, candidate] of left) {
      if (!issued.checkIssued(candidate) || !issued.verify(candidate.publicKey)) continue
      ordered.push(candidate)
      left.delete(fingerprint)
    }
  }
  if (left.size > 0 && strangers === 'refused')
    throw new Error(
      `certificate: the chain is broken: ${[...left.values()][0]!.subject.replaceAll('\n', ', ')} issued none of the others`,
    )
  return ordered
}
