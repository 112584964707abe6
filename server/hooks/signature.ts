import { sameSecret } from '../secrets.ts'
import type { HookSecret } from './secrets.ts'

/** The headers of a delivery, by lower-case name. */
export type Headers = Record<string, string | string[] | undefined>

/** The value of the first of these headers that is present; null when none is. */
export function header(headers: Headers, ...names: string[]): string | null {
  for (const name of names) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/**
 * How a delivery proves that its sender knows a secret: an HMAC-SHA256 of the raw body (GitHub, Gitea, Forgejo) or, from
 * GitLab, the secret itself.
 */
export type Proof = { kind: 'hmac'; hex: string } | { kind: 'token'; of: HookSecret[] }

/** Reads the proof from the headers, as far as it can be judged without the body; null when it is missing or wrong. */
export function readProof(secrets: readonly HookSecret[], headers: Headers): Proof | null {
  const signature = header(headers, 'x-hook-signature-256', 'x-hub-signature-256')
  if (signature !== null) {
    const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1]
    return hex === undefined ? null : { kind: 'hmac', hex: hex.toLowerCase() }
  }
  const token = header(headers, 'x-gitlab-token')
  // All secrets are tried, so that the time does not reveal which one matched.
  const of = token === null ? [] : secrets.filter(({ text }) => sameSecret(token, text))
  return of.length === 0 ? null : { kind: 'token', of }
}

/** The secrets that the proof holds for. `hmacs` has the HMACs of the body, in the order of `secrets`. */
export function provedBy(
  proof: Proof,
  secrets: readonly HookSecret[],
  hmacs: readonly string[],
): HookSecret[] {
  return proof.kind === 'token'
    ? proof.of
    : secrets.filter((_, index) => sameSecret(proof.hex, hmacs[index]!))
}
