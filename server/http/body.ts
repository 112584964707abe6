import type { H3Event } from 'h3'
import { AppError } from '../errors.ts'
import { findKeyFault } from './json-keys.ts'

/** Every body but the source upload and the push webhook. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024

/** Reads a JSON body; an empty one counts as `{}`. Throws `payload_too_large` or `invalid_request`. */
export async function readJson(event: H3Event): Promise<unknown> {
  const bytes = await readBytes(event, BODY_LIMIT_BYTES)
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

/** Reads a whole body of at most `limitBytes`. Throws `payload_too_large`; a declared length is refused before reading. */
export async function readBytes(event: H3Event, limitBytes: number): Promise<Buffer> {
  const { req } = event.node
  assertLength(event, limitBytes)
  const chunks: Buffer[] = []
  let size = 0
  // Not destroyed on an early end: the refusal must still reach the client on this connection.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Refuses a body whose declared length is over the limit. */
export function assertLength(event: H3Event, limitBytes: number): void {
  if (Number(event.node.req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
}

/** The error for a body over its limit. */
export function tooLarge(limitBytes: number): AppError {
  return new AppError(
    'payload_too_large',
    `the body is larger than the ${limitBytes / 1024 / 1024} MiB allowed here`,
  )
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid UTF-8', { cause })
  }
}
