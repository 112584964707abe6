import { sameSecret } from '../secrets.ts'
import type { HookSecret } from './secrets.ts'

/** Headers of a delivery by their lower-case names. */
export type Headers = Record<string, string | string[] | undefined>

/** The value of the first of these headers that is there; null when none is. */
export function header(headers: Headers, ...names: string[]): string | null {
  for (const name of names) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/**
 * How a delivery says that it comes from who knows a secret: an HMAC-SHA256 of the raw body (GitHub, Gitea, Forgejo), or,
 * as GitLab does, the secret itself.
 */
export type Proof = { kind: 'hmac'; hex: string } | { kind: 'token'; of: HookSecret[] }

/** The proof in the headers, as far as they can be judged without the body; null when it is missing or wrong. */
export function readProof(secrets: readonly HookSecret[], headers: Headers): Proof | null {
  const signature = header(headers, 'x-hook-signature-256', 'x-hub-signature-256')
  if (signature !== null) {
    const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1]
    return hex === undefined ? null : { kind: 'hmac', hex: hex.toLowerCase() }
  }
  const token = header(headers, 'x-gitlab-token')
  // All of them are tried: the time tells nothing of which it was.
  const of = token === null ? [] : secrets.filter(({ text }) => sameSecret(token, text))
  return of.length === 0 ? null : { kind: 'token', of }
}

/** The secrets that a delivery is proved by, whose HMACs of the body are in the order of `secrets`. */
export function provedBy(
  proof: Proof,
  secrets: readonly HookSecret[],
  hmacs: readonly string[],
): HookSecret[] {
  return proof.kind === 'token'
    ? proof.of
    : secrets.filter((_, index) => sameSecret(proof.hex, hmacs[index]!))
}
