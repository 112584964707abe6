import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../errors.ts'

/** How long a browser has for a passkey. */
export const CHALLENGE_MS = 5 * 60_000
const NONCE_BYTES = 16
const EXPIRY_BYTES = 6
const MAC_BYTES = 16
/** Used ones within their lifetime. Only those that came with a known passkey count, so people never get near. */
const MAX_USED = 1_000

/** What a challenge was asked for. */
export interface Use {
  purpose: 'sign_in' | 'register'
  host: string
  /** Who asked, for one that creates a passkey; null for one that signs in. */
  sessionId: string | null
}

/**
 * Challenges carry their end and what they are for, under a key that only this process has. So anyone may ask for as many as
 * they like, and nothing is kept of them. A restart ends them all.
 */
const key = randomBytes(32)
/** When each used challenge ends. */
const used = new Map<string, number>()

/** A challenge, as base64url. */
export function newChallenge(use: Use): string {
  const head = Buffer.alloc(NONCE_BYTES + EXPIRY_BYTES)
  randomBytes(NONCE_BYTES).copy(head)
  head.writeUIntBE(Math.ceil(now() + CHALLENGE_MS), NONCE_BYTES, EXPIRY_BYTES)
  return Buffer.concat([head, macOf(head, use)]).toString('base64url')
}

/**
 * Uses up a challenge. Throws `invalid_credentials` when it is none for this use, has ended or was used before, and
 * `too_many_attempts` when too many were used at once.
 */
export function useChallenge(challenge: string, use: Use): void {
  const bytes = Buffer.from(challenge, 'base64url')
  const head = bytes.subarray(0, NONCE_BYTES + EXPIRY_BYTES)
  const mac = bytes.subarray(NONCE_BYTES + EXPIRY_BYTES)
  const isOurs = mac.length === MAC_BYTES && timingSafeEqual(mac, macOf(head, use))
  const end = isOurs ? head.readUIntBE(NONCE_BYTES, EXPIRY_BYTES) : 0
  const name = bytes.toString('base64url')
  if (end <= now() || used.has(name)) {
    throw new AppError(
      'invalid_credentials',
      'the challenge was used before, is older than 5 minutes or was asked for something else: start again',
    )
  }
  for (const [old, oldEnd] of used) if (oldEnd <= now()) used.delete(old)
  if (used.size >= MAX_USED)
    throw new AppError('too_many_attempts', 'too many passkeys were used at once: try again in a minute', {
      retryAfterSeconds: 60,
    })
  used.set(name, end)
}

function macOf(head: Uint8Array, { purpose, host, sessionId }: Use): Buffer {
  const text = JSON.stringify([purpose, host, sessionId])
  return createHmac('sha256', key).update(head).update(text).digest().subarray(0, MAC_BYTES)
}

/** Milliseconds of this process, which setting the host's clock does not change. */
function now(): number {
  return performance.now()
}
