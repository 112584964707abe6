import { AppError } from '../errors.ts'
import { ESCAPE_HINT, parseValue, ReferenceFault } from './references.ts'

/** A name that every shell and every language accepts. */
export const KEY_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/
export const MAX_KEY_CHARACTERS = 256
/** Half of the kernel's limit for one string of a program's environment (execve(2), MAX_ARG_STRLEN). */
export const MAX_VALUE_BYTES = 64 * 1024
export const MAX_VARIABLES = 1_000
/** A quarter of the kernel's limit for a program's whole environment with the default stack (execve(2)). */
const MAX_TOTAL_BYTES = 512 * 1024
/** The prefix of the names that the server sets in every container. */
const RESERVED_PREFIX = 'DEPLOYER_'

export interface Variable {
  key: string
  value: string
}

/** What is wrong with a list of variables by itself, and at which index; or null. */
export function listFault(variables: readonly Variable[]): { path: number[]; message: string } | null {
  const seen = new Set<string>()
  for (const [index, { key, value }] of variables.entries()) {
    const message = keyFault(key) ?? valueFault(value) ?? (seen.has(key) ? `${key} is given twice` : null)
    if (message !== null) return { path: [index], message }
    seen.add(key)
  }
  const message = sizeFault(entriesOf(variables))
  return message === null ? null : { path: [], message }
}

/**
 * Refuses variables that are too many together, since each may be added to others. `path` is their field, for messages.
 * Throws `invalid_request`.
 */
export function assertSize(variables: readonly Variable[], path: string): void {
  const fault = sizeFault(entriesOf(variables))
  if (fault !== null) throw new AppError('invalid_request', `${path}: ${fault}`)
}

/** What is wrong with a variable's name, or null. */
export function keyFault(key: string): string | null {
  if (key.length > MAX_KEY_CHARACTERS) return `key must have at most ${MAX_KEY_CHARACTERS} characters`
  if (!KEY_PATTERN.test(key)) return 'key must contain only letters, digits and _, and not start with a digit'
  return key.startsWith(RESERVED_PREFIX)
    ? `key must not start with ${RESERVED_PREFIX}, which the server sets itself`
    : null
}

/** What is wrong with variables taken together, of one list or of a whole environment; or null. */
export function sizeFault(variables: Iterable<readonly [key: string, value: string]>): string | null {
  let count = 0
  let total = 0
  for (const [key, value] of variables) {
    count++
    total += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (count > MAX_VARIABLES) return `must have at most ${MAX_VARIABLES} variables, not ${count}`
  return total > MAX_TOTAL_BYTES ? `must be at most ${MAX_TOTAL_BYTES / 1024} KiB together` : null
}

/** What is wrong with a variable's value by itself; or null. Does not quote the value, which may be a secret. */
export function valueFault(value: string): string | null {
  if (value.includes('\0')) return 'value must not contain NUL'
  if (!value.isWellFormed())
    return 'value must not contain half of a surrogate pair, which UTF-8 cannot represent'
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) return `value must be at most ${MAX_VALUE_BYTES / 1024} KiB`
  try {
    parseValue(value)
    return null
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return `value ${error.message}; ${ESCAPE_HINT}`
  }
}

/** What `PATCH .../env` does: adds or replaces `set`, removes `unset`. */
export function patchVariables(
  current: readonly Variable[],
  set: readonly Variable[],
  unset: readonly string[],
): Variable[] {
  const result = new Map([...entriesOf(current), ...entriesOf(set)])
  for (const key of unset) result.delete(key)
  return [...result].map(([key, value]) => ({ key, value }))
}

function entriesOf(variables: readonly Variable[]): [key: string, value: string][] {
  return variables.map(({ key, value }) => [key, value])
}
