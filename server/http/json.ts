import { AppError } from '../errors.ts'
import { findKeyFault } from './json-keys.ts'

/** How deep the path to a fault is reported. No resource has fields that deep. */
const MAX_REPORTED_KEYS = 8
/** The escapes that can put half of a surrogate pair into valid UTF-8. */
const HALF = /\\u[dD][89a-fA-F]/

/** Parses a JSON body; an empty one counts as `{}`. Throws `invalid_request`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {}
  const text = decodeUtf8(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AppError('invalid_request', `the body is not valid JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  const fault = findKeyFault(text) ?? (HALF.test(text) ? findHalf(value) : null)
  if (fault) throw new AppError('invalid_request', fault)
  return value
}

/** Decodes UTF-8. Throws `invalid_request`. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid UTF-8', { cause })
  }
}

interface Place {
  value: unknown
  key: string
  within: Place | null
}

/**
 * Finds a text with half of a surrogate pair: UTF-8 cannot represent it, so another text would be stored. Returns the fault
 * as a message that begins with the field, or null. Not recursive, because a body may be nested deeper than the stack
 * allows.
 */
function findHalf(value: unknown): string | null {
  const places: Place[] = [{ value, key: '', within: null }]
  for (let place = places.pop(); place; place = places.pop()) {
    const { value } = place
    if (typeof value === 'string' && !value.isWellFormed())
      return `${pathOf(place)}: must not contain half of a surrogate pair`
    if (typeof value !== 'object' || value === null) continue
    const keys = Array.isArray(value) ? null : Object.keys(value)
    const items: unknown[] = keys ? Object.values(value) : (value as unknown[])
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      // Nothing is kept for values that need no check, such as a million numbers.
      if (typeof item === 'string' || typeof item === 'object')
        places.push({ value: item, key: keys?.[index] ?? String(index), within: place })
    }
  }
  return null
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let at = place; at.within; at = at.within) keys.push(at.key)
  return keys.toReversed().slice(0, MAX_REPORTED_KEYS).join('.') || 'body'
}
