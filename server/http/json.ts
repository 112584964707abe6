import { AppError } from '../errors.ts'
import { findKeyFault } from './json-keys.ts'

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
  const fault = findKeyFault(text)
  if (fault) throw new AppError('invalid_request', fault)
  return value
}

/** The text that bytes are. Throws `invalid_request`. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid UTF-8', { cause })
  }
}
