import { parseValue, ReferenceFault } from '../variables/references.ts'

/** Words that name a secret wherever they stand in a key. */
const SECRET_WORD = /password|passwd|passphrase|secret|token|credential|apikey/i
/** Shorter ones, between underscores. */
const SECRET_PART = /(?:^|_)(?:key|keys|pass|pwd|dsn|auth|creds)(?:_|$)/i
/** A user and a password before a host (RFC 3986 section 3.2.1). */
const URL_WITH_PASSWORD = /:\/\/[^\s/@:]{0,256}:[^\s/@]{1,1024}@/

/** Whether a variable looks like a secret. What only refers to others holds none. */
export function looksSecret(key: string, value: string): boolean {
  if (refersOnly(value)) return false
  return SECRET_WORD.test(key) || SECRET_PART.test(key) || URL_WITH_PASSWORD.test(value)
}

function refersOnly(value: string): boolean {
  try {
    const parts = parseValue(value)
    return parts.length > 0 && parts.every((part) => typeof part !== 'string')
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return false
  }
}
