import { AppError } from '../errors.ts'

/** Decisions 4. */
const KEY_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/
const MAX_KEY_CHARACTERS = 256
const MAX_VALUE_BYTES = 64 * 1024
const MAX_VARIABLES = 1_000
const MAX_TOTAL_BYTES = 512 * 1024
/** Names that the server gives to every container itself. */
const RESERVED_PREFIX = 'DEPLOYER_'

/** `${{` that is not escaped as `$${{`. */
const UNESCAPED_REFERENCE = /(?<!\$)\$\{\{/

/** A stored value as it reaches the container: `$${{` is a literal `${{`. */
export function deliverValue(value: string): string {
  return value.replaceAll('$${{', '${{')
}

export interface Variable {
  key: string
  value: string
}

/** Checks a whole list of variables. `path` is the list's field, for messages. Throws `invalid_request`. */
export function assertVariables(variables: readonly Variable[], path: string): void {
  const seen = new Set<string>()
  let total = 0
  for (const [index, { key, value }] of variables.entries()) {
    const fault = keyFault(key) ?? valueFault(value) ?? (seen.has(key) ? `${key} stands twice` : null)
    if (fault) throw new AppError('invalid_request', `${path}.${index}: ${fault}`)
    seen.add(key)
    total += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (variables.length > MAX_VARIABLES) {
    throw new AppError(
      'invalid_request',
      `${path}: must have at most ${MAX_VARIABLES} variables, not ${variables.length}`,
    )
  }
  if (total > MAX_TOTAL_BYTES) {
    throw new AppError('invalid_request', `${path}: must be at most ${MAX_TOTAL_BYTES / 1024} KiB together`)
  }
}

/** What is wrong with a variable's name, or null. */
export function keyFault(key: string): string | null {
  if (key.length > MAX_KEY_CHARACTERS) return `key must have at most ${MAX_KEY_CHARACTERS} characters`
  if (!KEY_PATTERN.test(key)) return 'key must hold letters, digits and _ only, and not start with a digit'
  return key.startsWith(RESERVED_PREFIX)
    ? `key must not start with ${RESERVED_PREFIX}, which the server sets itself`
    : null
}

function valueFault(value: string): string | null {
  if (value.includes('\0')) return 'value must not contain NUL'
  if (!value.isWellFormed()) return 'value must not contain half of a surrogate pair, which UTF-8 cannot hold'
  if (UNESCAPED_REFERENCE.test(value))
    return 'value holds ${{, which begins a reference; write $${{ for the text itself'
  return Buffer.byteLength(value) > MAX_VALUE_BYTES
    ? `value must be at most ${MAX_VALUE_BYTES / 1024} KiB`
    : null
}

/** What `PATCH .../env` asks: `set` over what is there, `unset` away. Throws `invalid_request` for a key in both. */
export function patchVariables(
  current: readonly Variable[],
  set: readonly Variable[],
  unset: readonly string[],
): Variable[] {
  const both = set.find(({ key }) => unset.includes(key))
  if (both) throw new AppError('invalid_request', `set: ${both.key} is also in unset`)
  assertVariables(set, 'set')
  const result = new Map(current.map(({ key, value }) => [key, value]))
  for (const { key, value } of set) result.set(key, value)
  for (const key of unset) result.delete(key)
  return [...result].map(([key, value]) => ({ key, value }))
}
