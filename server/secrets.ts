import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { AppError } from './errors.ts'
import { writePrivateFile } from './files.ts'
import { takeRandom } from './random.ts'

const KEY_BYTES = 32
/** NIST SP 800-38D 5.2.1.1: a 96-bit initialization vector, random for each value. */
const IV_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_CHARACTERS = 32

/** Seals and opens all secrets in the database: AES-256-GCM with a key from a file. */
export interface Vault {
  seal(secret: string | Uint8Array): Uint8Array
  /** Throws `internal_error` when the value was not sealed with this key. */
  open(sealed: Uint8Array): string
  /** Like `open`, for what is not a text. */
  openBytes(sealed: Uint8Array): Buffer
  /** A digest that changes with a secret and reveals nothing about it (HMAC-SHA256 with the key), as 32 hex characters. */
  fingerprint(secret: string | Uint8Array): string
}

/** Reads the key file, or creates it (mode 0600) if it does not exist. Throws `io_error` when it is not a valid key. */
export function openVault(keyFile: string): Vault {
  if (!existsSync(keyFile)) writePrivateFile(keyFile, randomBytes(KEY_BYTES))
  const key = readFileSync(keyFile)
  if (key.length !== KEY_BYTES) {
    throw new AppError('io_error', `${keyFile} is not a key of ${KEY_BYTES} bytes: restore it from a backup`)
  }
  return {
    seal: (secret) => seal(key, secret),
    open: (sealed) => open(key, sealed).toString('utf8'),
    openBytes: (sealed) => open(key, sealed),
    fingerprint: (secret) =>
      createHmac('sha256', key).update(secret).digest('hex').slice(0, FINGERPRINT_CHARACTERS),
  }
}

function seal(key: Uint8Array, secret: string | Uint8Array): Uint8Array {
  const iv = takeRandom(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const body = Buffer.concat([cipher.update(Buffer.from(secret as string)), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

function open(key: Uint8Array, sealed: Uint8Array): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
  } catch (cause) {
    throw new AppError(
      'internal_error',
      'a stored secret cannot be read: the key file is not the one it was written with',
      { cause },
    )
  }
}

/**
 * SHA-256 as hex, the form in which tokens and session secrets are stored. They are random and long, so no slow hash is
 * needed.
 */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Compares two secrets in a time that depends on neither. */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(left).digest(),
    createHash('sha256').update(right).digest(),
  )
}
