import { randomHex } from '../ids.ts'

const TOKEN_BYTES = 20

/** A new API token: a short fixed prefix, an underscore, 40 hex characters. */
export function newToken(): string {
  return `dpl_${randomHex(TOKEN_BYTES)}`
}
