import { parseValue, ReferenceFault } from '../variables/references.ts'

/**
 * Which values of variables and contents of files an export has: all, with the credentials of repositories; those that are
 * plainly no secrets; or none.
 */
export type ExportedValues = 'all' | 'plain' | 'none'

/** Words that name a secret anywhere in a key. */
const SECRET_WORD =
  /password|passwd|passphrase|secret|token|credential|passcode|(?:api|private|signing|encryption|access|master)key/i
/** The words of a key, separated by underscores, digits or capitals: `DB_DSN2`, `privateKey`, `APIKeys`. */
const WORD = /[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+/g
/** Shorter words, and words that end in one, such as `ENCRYPTIONKEY`; ordinary words such as `monkey` are excluded. */
const SECRET_END =
  /(?:(?<!^(?:mon|don|tur|hoc|joc|whis))keys?|(?<!^(?:by|com|encom|sur|tres|over|under))pass|pwd|dsn|auth|creds|^(?:pin|otp|cvv|ssn|card|jwt|seed|salt|pepper))$/i

/** Last words of keys whose values are words that are not secret. */
const PLAIN_WORDS =
  /^(?:env|environment|level|mode|format|lang|language|locale|tz|timezone|region|host|hostname)$/i
/** Words of keys whose values are numbers that are not secret: ports, sizes, counts and times. */
const NUMBER_WORDS =
  /^(?:ports?|size|count|limit|max|min|total|length|width|height|depth|workers?|threads?|pool|concurrency|replicas|retries|attempts|rounds|memory|bytes|kb|mb|gb|ttl|timeout|interval|delay|period|age|lifetime|expiry|expires|ms|seconds|minutes|hours|days|year|version|rate|percent)$/i

const BOOLEAN = /^(?:true|false|yes|no|on|off)$/i
/** A number, at most with a unit of size or time: `30s`, `512MB`, `80%`. */
const NUMBER = /^-?\d{1,12}(?:\.\d{1,6})?\s?(?:[a-z]{1,3}|%)?$/i
const PLAIN_WORD = /^[A-Za-z][\w./-]{0,31}$/
/** A word of at least this many characters, with both letters and digits, is likely a token. */
const TOKEN_CHARACTERS = 16
/** A word of only letters that is this long is likely a token too. */
const LETTERS = 24
/** Hyphenated words, such as host names, have a digit or two; ids have at least this many. */
const ID_DIGITS = 3

/** Hosts whose URLs are secrets themselves: anyone who knows one can post there. */
const WEBHOOK_HOSTS =
  /(?:^|\.)(?:hooks\.slack\.com|discord(?:app)?\.com|webhook\.office\.com|outlook\.office\.com|logic\.azure\.com|hooks\.zapier\.com|make\.com|ifttt\.com|api\.telegram\.org|chat\.googleapis\.com|webhook\.site|pipedream\.net|open\.feishu\.cn|open\.larksuite\.com|oapi\.dingtalk\.com|qyapi\.weixin\.qq\.com|ntfy\.sh|hc-ping\.com|mattermost\.com|rocket\.chat)$/i

/** Replaces a reference in a text. */
const REFERENCE = 'reference'

/**
 * Whether the value of a variable is certainly not secret. In doubt it counts as a secret, since tokens have no common
 * form.
 */
export function isPlainValue(key: string, value: string): boolean {
  const text = withoutReferences(value)
  if (text === null) return false
  if (text === '' || text === REFERENCE) return true
  const words = key.match(WORD) ?? []
  if (SECRET_WORD.test(key) || words.some((word) => SECRET_END.test(word))) return false
  if (BOOLEAN.test(text)) return true
  if (NUMBER.test(text)) return words.some((word) => NUMBER_WORDS.test(word))
  if (isPlainUrl(text)) return true
  return PLAIN_WORDS.test(words.at(-1) ?? '') && PLAIN_WORD.test(text) && !mayHoldToken(text)
}

/** A value with each reference replaced by a word; null if it is not well-formed. */
function withoutReferences(value: string): string | null {
  try {
    return parseValue(value)
      .map((part) => (typeof part === 'string' ? part : REFERENCE))
      .join('')
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return null
  }
}

/** Whether a text is a URL without literal credentials, without a query, and without anything that may be a token. */
function isPlainUrl(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, hostname, pathname, search, hash } = new URL(text)
  const isOpen = [username, password].every((part) => part === '' || part === REFERENCE)
  return (
    isOpen &&
    search === '' &&
    hash === '' &&
    !WEBHOOK_HOSTS.test(hostname) &&
    !mayHoldToken(hostname + pathname)
  )
}

function mayHoldToken(text: string): boolean {
  return text.split(/[^A-Za-z\d_-]+/).some((word) => {
    const bare = word.replaceAll(/[-_]/g, '')
    const digits = bare.replaceAll(/\D/g, '').length
    const minDigits = bare === word ? 1 : ID_DIGITS
    const isMixed = bare.length >= TOKEN_CHARACTERS && digits >= minDigits && digits < bare.length
    return isMixed || (bare === word && word.length >= LETTERS)
  })
}
