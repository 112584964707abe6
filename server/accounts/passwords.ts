import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)

/**
 * OWASP Password Storage Cheat Sheet, "Argon2id": at least 19 MiB of memory, 2 passes, 1 lane. Salt and tag lengths
 * follow RFC 9106 section 3.1.
 */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

type Parameters = typeof PARAMETERS

/** Hashes a password with argon2id, as a PHC string that carries its own parameters. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await oneAtATime(() => compute(password, salt, TAG_BYTES, PARAMETERS))
  const { memory, passes, parallelism } = PARAMETERS
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`
}

/**
 * Whether `password` is the one that was hashed. Without a hash it takes as long and returns false, so that the time
 * taken does not reveal whether there is an account.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    hash ?? '',
  )
  if (!match) {
    await oneAtATime(() => compute(password, Buffer.alloc(SALT_BYTES), TAG_BYTES, PARAMETERS))
    return false
  }
  const [, memory, passes, parallelism, salt, expected] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const tag = Buffer.from(expected, 'base64')
  const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const actual = await oneAtATime(() =>
    compute(password, Buffer.from(salt, 'base64'), tag.length, parameters),
  )
  return timingSafeEqual(actual, tag)
}

function compute(
  password: string,
  nonce: Buffer,
  tagLength: number,
  parameters: Parameters,
): Promise<Buffer> {
  return derive('argon2id', { message: Buffer.from(password, 'utf8'), nonce, tagLength, ...parameters })
}

let last: Promise<unknown> = Promise.resolve()

/** Each computation takes 19 MiB and a thread of node's small pool, which file access also needs. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work)
  last = result.catch(() => {})
  return result
}

/** Base64 without padding, as the PHC string format requires. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/={1,2}$/, '')
}
