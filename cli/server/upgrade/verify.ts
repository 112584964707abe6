import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { gt, valid } from 'semver'
import { AppError, messageOf } from '#server/errors.ts'

/** What the name of a release's file says. */
export interface ReleaseName {
  file: string
  /** The name of the folder in it. */
  title: string
  version: string
}

const NAME = /^(deployer-(\d+\.\d+\.\d+[0-9A-Za-z.+-]*)-linux-([0-9a-z]+))\.tar\.gz$/

/** Reads the name of a release. Throws `invalid_request` when it is not one, or one for other machines. */
export function releaseNameOf(file: string, arch: string = process.arch): ReleaseName {
  const [, title = '', version = '', itsArch] = NAME.exec(file) ?? []
  if (valid(version) === null)
    throw new AppError(
      'invalid_request',
      `${file} is not the name of a release: it is called deployer-<version>-linux-${arch}.tar.gz`,
    )
  if (itsArch !== arch)
    throw new AppError(
      'invalid_request',
      `${file} is for ${itsArch}, and this host is ${arch}: use its release`,
    )
  return { file, title, version }
}

/** Throws `invalid_request` unless a version is newer than the running one. */
export function assertNewer(version: string, running: string): void {
  if (gt(version, running)) return
  const what = version === running ? 'that version runs already' : `version ${running} runs, which is newer`
  throw new AppError('invalid_request', `the release is version ${version}: ${what}; nothing was changed`)
}

/** Reads a public key. Throws `invalid_request` when it is not an Ed25519 key in PEM. */
export function readKey(pem: string, from: string): KeyObject {
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
    throw new Error(`it is a key of ${key.asymmetricKeyType}`)
  } catch (cause) {
    throw new AppError('invalid_request', `${from} has no Ed25519 public key in PEM: ${messageOf(cause)}`, {
      cause,
    })
  }
}

/** Throws `invalid_request` unless the signature (base64) of the sums is by this key (RFC 8032). */
export function assertSigned(sums: string, signature: string, key: KeyObject): void {
  if (verify(null, Buffer.from(sums), key, Buffer.from(signature, 'base64'))) return
  throw new AppError(
    'invalid_request',
    'the signature of SHA256SUMS is not by the key that the server trusts: get the release from its own source again, or pass the key of its maker with --key; nothing was changed',
  )
}

/** The sum of a file in what `sha256sum` has printed. Throws `invalid_request` when it has none. */
export function sumIn(sums: string, file: string): string {
  for (const line of sums.split('\n')) {
    const [, sum, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? []
    if (sum !== undefined && name === file) return sum
  }
  throw new AppError('invalid_request', `SHA256SUMS has no sum of ${file}; nothing was changed`)
}

/** Throws `invalid_request` unless a file has the sum that was signed. */
export function assertSum(file: string, sum: string, signed: string): void {
  if (sum === signed) return
  throw new AppError(
    'invalid_request',
    `${file} is not what was signed (its SHA-256 is ${sum}): it is damaged or cut short; get it again; nothing was changed`,
  )
}
