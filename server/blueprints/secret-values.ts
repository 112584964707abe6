import { parseValue, ReferenceFault } from '../variables/references.ts'

/** Words that name a secret wherever they stand in a key. */
const SECRET_WORD =
  /password|passwd|passphrase|secret|token|credential|(?:api|private|signing|encryption|access|master)key/i
/** Words of a key, which underscores, digits or capitals set apart: `DB_DSN2`, `privateKey`, `APIKeys`. */
const WORD = /[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+/g
/** Shorter words, and others that end like them: `ENCRYPTIONKEY`. Of the dictionary's own only those that are no secrets. */
const SECRET_END =
  /(?:(?<!^(?:mon|don|tur|hoc|joc|whis))keys?|(?<!^(?:by|com|encom|sur|tres|over|under))pass|pwd|dsn|auth|creds)$/i
/** A user and a password before a host (RFC 3986 section 3.2.1). */
const URL_WITH_PASSWORD = /:\/\/[^\s/@:]{0,256}:[^\s/@]{1,1024}@/

/** Whether a variable looks like a secret. What only refers to others holds none. */
export function looksSecret(key: string, value: string): boolean {
  if (refersOnly(value)) return false
  return SECRET_WORD.test(key) || hasSecretEnd(key) || URL_WITH_PASSWORD.test(value)
}

function hasSecretEnd(key: string): boolean {
  return (key.match(WORD) ?? []).some((word) => SECRET_END.test(word))
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
