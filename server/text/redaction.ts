import { ID_PATTERN } from '../ids.ts'

const HIDDEN = '***'
/** Names of fields that contain a secret, with any prefix: `webhook_secret`. */
const SECRET_NAME =
  /(^|_)(password|passphrase|secret|token|authorization|cookie|credentials|private_key|api_key)$/i
/** Patterns of secrets in texts, each with its replacement. */
const SECRET_FORMS: [RegExp, string][] = [
  [/\bdpl_[0-9a-f]{40}\b/g, `dpl_${HIDDEN}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${HIDDEN}`],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/([?&](?:access_token|token|key|code|secret|password)=)[^&\s"']+/gi, `$1${HIDDEN}`],
  // User information of a URL (RFC 3986 section 3.2.1).
  [/:\/\/[^\s/@"']+@/g, `://${HIDDEN}@`],
]

const secrets = new Set<string>()

/** Hides a secret everywhere from now on. */
export function hide(secret: string): void {
  if (secret !== '') secrets.add(secret)
}

/** A text without secrets: those registered, and anything that looks like one. */
export function withoutSecrets(text: string): string {
  let safe = text
  for (const secret of secrets) safe = safe.replaceAll(secret, HIDDEN)
  for (const [form, rest] of SECRET_FORMS) safe = safe.replace(form, rest)
  return safe
}

/** Fields as plain JSON without secrets. Values that JSON cannot represent are described. */
export function safeFields(fields: Record<string, unknown>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(fields, safeValue)) as Record<string, unknown>
  } catch {
    return { unreadable: Object.keys(fields) }
  }
}

function safeValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return withoutSecrets(value.message)
  if (typeof value !== 'string') return value
  return SECRET_NAME.test(name) && !ID_PATTERN.test(value) ? HIDDEN : withoutSecrets(value)
}

/** What is wrong with an address in which `***` stands for a hidden part; null when nothing is. */
export function hiddenFault(text: string): string | null {
  const url = URL.parse(text)
  // `user@host:path`, which contains no secret.
  if (url === null) return null
  const { username, password, search, pathname } = url
  const parts = [username, password, ...search.slice(1).split('&'), ...pathname.split('/')]
  // The end of a hidden path may be shown after the stars.
  return parts.some((part) => part.startsWith('***'))
    ? 'contains *** in place of a hidden part: write the whole address'
    : null
}
