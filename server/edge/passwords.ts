import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { Slots } from '../work/slots.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/**
 * OWASP Password Storage Cheat Sheet, "scrypt": N=2^14, r=8, p=5 is one of the equivalent choices, and the one that needs
 * least memory (16 MiB), since the data plane computes it, too. The whole password counts, however long it is.
 */
const LOG_N = 14
const R = 8
const P = 5
const SALT_BYTES = 16
const KEY_BYTES = 32
const PREFIX = `$scrypt$ln=${LOG_N},r=${R},p=${P}$`

/** Each one takes a thread of node's small pool, which file access also needs. */
const turn = new Slots(1)

/** Hashes a password with scrypt, as a PHC string with salt and key in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return `${PREFIX}${encode(salt)}$${encode(await compute(password, salt))}`
}

/** Whether a password is the one that was hashed. */
async function isHashed(password: string, hash: string): Promise<boolean> {
  const [salt = '', key = ''] = hash.slice(PREFIX.length).split('$')
  const expected = Buffer.from(key, 'base64')
  const actual = await compute(password, Buffer.from(salt, 'base64'))
  return expected.length === KEY_BYTES && timingSafeEqual(actual, expected)
}

function compute(password: string, salt: Buffer): Promise<Buffer> {
  return turn.run(() => derive(password, salt, KEY_BYTES, { N: 2 ** LOG_N, r: R, p: P }))
}

/** Base64 without padding, as the PHC string format requires. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/={1,2}$/, '')
}

/** A user as a request gives it; a null password is the one that the user has. */
export interface GivenUser {
  username: string
  password: string | null
}

/** A user as it is kept. */
export interface KeptUser {
  username: string
  hash: string
}

/**
 * The hashes of the passwords in a request. They are computed before it changes anything, since each takes a fifth of a second
 * and a transaction cannot wait. A password that a user already has keeps its hash, so that nothing seems to change.
 */
export class PasswordHashes {
  /** By user name and password: the hashes that it fits, those that are kept already first. */
  readonly #fitting = new Map<string, string[]>()
  /** The hash of a password that nobody knows, for new users without one. */
  #lock: string | undefined

  /** Computes the hashes for these users, of whom some are `kept` already. */
  async add(given: readonly GivenUser[], kept: readonly KeptUser[]): Promise<void> {
    for (const { username, password } of given) {
      if (password === null) continue
      const key = keyOf(username, password)
      const fitting = this.#fitting.get(key) ?? []
      for (const { hash } of kept.filter((user) => user.username === username))
        if (!fitting.includes(hash) && (await isHashed(password, hash))) fitting.unshift(hash)
      if (fitting.length === 0) fitting.push(await hashPassword(password))
      this.#fitting.set(key, fitting)
    }
  }

  /** Gives new users without a password one that nobody knows. */
  async lockNew(): Promise<void> {
    this.#lock = await hashPassword(encode(randomBytes(KEY_BYTES)))
  }

  /** What is kept of a user who has `hash` now; undefined for a new one without a password. */
  hashOf({ username, password }: GivenUser, hash: string | undefined): string | undefined {
    if (password === null) return hash ?? this.#lock
    const fitting = this.#fitting.get(keyOf(username, password))
    if (!fitting) throw new TypeError('the password was not hashed before')
    return hash !== undefined && fitting.includes(hash) ? hash : fitting[0]!
  }
}

function keyOf(username: string, password: string): string {
  return JSON.stringify([username, password])
}
