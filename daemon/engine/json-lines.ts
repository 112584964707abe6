import type { Readable } from 'node:stream'

/** No single object of the engine's progress is longer; otherwise it is not a progress stream. */
const MAX_OBJECT_BYTES = 32 * 1024 * 1024

/**
 * The objects of a stream of newline-delimited JSON, as the engine sends progress and events. Lines that are not JSON are
 * skipped. Throws when a line is too long.
 */
export async function* jsonLines(stream: Readable): AsyncGenerator<Record<string, unknown>> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end))
      const value = parse(Buffer.concat(parts))
      if (value) yield value
      parts = []
      length = 0
      from = end + 1
    }
    parts.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > MAX_OBJECT_BYTES)
      throw new Error(`the engine sent a line of more than ${MAX_OBJECT_BYTES / 1024 ** 2} MiB`)
  }
  const rest = parse(Buffer.concat(parts))
  if (rest) yield rest
}

function parse(line: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
