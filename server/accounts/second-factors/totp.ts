import { Secret, TOTP } from 'otpauth'

/** RFC 6238 section 5.2 recommends 30 s, and one step for the way of the code and for clocks that differ a little. */
const PERIOD_SECONDS = 30
const STEPS_EITHER_WAY = 1
/** RFC 4226 section 4, R6, recommends 160 bits. */
const SECRET_BYTES = 20
/** How far apart clocks are looked for when a new app's code is wrong: 20 minutes. */
const FAR_STEPS = 40

/** A new secret, as base32. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32
}

/** What a QR code says. The host distinguishes several servers in one app. */
export function totpUri(secret: string, email: string, host: string): string {
  // A colon would end the issuer (Key Uri Format).
  const issuer = host.includes(':') ? 'Deployer' : `Deployer ${host}`
  return totpOf(secret, issuer, email).toString()
}

/** The step of 30 s whose code this is, if it is the current one or one next to it; null otherwise. */
export function stepOf(secret: string, code: string, now: number): number | null {
  return find(secret, code, now, STEPS_EITHER_WAY)
}

/**
 * How many seconds the app's clock is ahead of the server's (negative when it is behind), if the code would be right at
 * another time within 20 minutes; null otherwise. Only for those who know the secret: it accepts more codes.
 */
export function secondsAhead(secret: string, code: string, now: number): number | null {
  const step = find(secret, code, now, FAR_STEPS)
  return step === null
    ? null
    : (step - TOTP.counter({ period: PERIOD_SECONDS, timestamp: now })) * PERIOD_SECONDS
}

/** Whether a text has the form of an app's code. */
export function isAppCode(code: string): boolean {
  return /^\d{6}$/.test(digitsOf(code))
}

/** Compares in a time that does not depend on the code (otpauth's `validate`). */
function find(secret: string, code: string, now: number, window: number): number | null {
  const totp = totpOf(secret)
  const delta = totp.validate({ token: digitsOf(code), timestamp: now, window })
  return delta === null ? null : totp.counter({ timestamp: now }) + delta
}

function totpOf(secret: string, issuer = '', label = 'Deployer'): TOTP {
  return new TOTP({
    secret: Secret.fromBase32(secret),
    issuer,
    label,
    period: PERIOD_SECONDS,
    algorithm: 'SHA1',
    digits: 6,
  })
}

/** Apps show the digits in groups. */
function digitsOf(code: string): string {
  return code.replaceAll(/[\s-]/g, '')
}
