import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'

/** What a certificate says of itself. */
export interface CertificateFacts {
  hosts: string[]
  issuer: string
  notBefore: number
  notAfter: number
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** serverAuth and anyExtendedKeyUsage (RFC 5280 section 4.2.1.12). */
const SERVER_PURPOSES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']

/** The certificates in a PEM text. Throws `Error` for what is none. */
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

/** Keys that TLS has and no browser takes in a certificate. */
const UNKNOWN_TO_BROWSERS: Record<string, string> = { ed25519: 'Ed25519', ed448: 'Ed448' }

/** Why browsers refuse a chain that other clients take; null when they do not. */
export function browserWarning(chain: string): string | null {
  const name = readChain(chain)
    .map(({ publicKey }) => UNKNOWN_TO_BROWSERS[publicKey.asymmetricKeyType ?? ''])
    .find((found) => found !== undefined)
  return name === undefined
    ? null
    : `it has a key of ${name}, which browsers refuse: upload one with a key of ECDSA (P-256) or RSA`
}

/** A chain in order with the key of its first certificate. */
export interface KeyedChain {
  chain: string
  key: string
  facts: CertificateFacts
}

/**
 * Puts a chain in order, from the certificate of the key on. What does not belong to it is refused, or left out: authorities
 * send along what old devices know. Throws `Error` that says what is wrong with them.
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
    throw new Error('certificate: it holds what is no certificate')
  }
  if (certificates.length === 0) throw new Error('certificate: there is no PEM certificate in it')
  const key = readKey(keyPem)
  const leaf = certificates.find((certificate) => certificate.checkPrivateKey(key))
  if (!leaf) throw new Error('private_key: it belongs to none of the certificates')
  if (!isForServers(leaf))
    throw new Error('certificate: no browser takes it: it is not for servers (extendedKeyUsage)')
  const facts = factsOf(leaf)
  if (facts.hosts.length === 0) throw new Error('certificate: it names no host (subjectAltName)')
  if (facts.notAfter <= Date.now())
    throw new Error(`certificate: it ended at ${new Date(facts.notAfter).toISOString()}`)
  const ordered = inOrder(leaf, certificates, strangers)
  return {
    chain: ordered.map((certificate) => certificate.toString()).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    facts,
  }
}

/** One that names no purpose is for all. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  const purposes = keyUsage as string[] | undefined
  return purposes === undefined || purposes.some((purpose) => SERVER_PURPOSES.includes(purpose))
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new Error('private_key: it is no PEM private key without a passphrase')
  }
}

/**
 * From the leaf to the last issuer that is there, the nearer before the farther. An authority that two others have signed is
 * there twice, and each way stays: one client knows the end of the one, another that of the other.
 */
function inOrder(
  leaf: X509Certificate,
  certificates: readonly X509Certificate[],
  strangers: 'refused' | 'left out',
): X509Certificate[] {
  const left = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]))
  left.delete(leaf.fingerprint256)
  const ordered = [leaf]
  // It grows meanwhile.
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
