import { createHmac } from 'node:crypto'
import { sameSecret } from '../secrets.ts'

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
 * Whether a delivery comes from who knows the secret: an HMAC-SHA256 of the raw body (GitHub, Gitea, Forgejo), or the
 * secret itself as GitLab sends it.
 */
export function isSigned(secret: string, headers: Headers, body: Buffer): boolean {
  const signature = header(headers, 'x-hook-signature-256', 'x-hub-signature-256')
  if (signature !== null) {
    const expected = createHmac('sha256', secret).update(body).digest('hex')
    return sameSecret(signature.toLowerCase(), `sha256=${expected}`)
  }
  const token = header(headers, 'x-gitlab-token')
  return token !== null && sameSecret(token, secret)
}
