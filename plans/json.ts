/**
 * Manifests are read leniently, as the tools they are written for do, and by the process that starts with each build:
 * a library for schemas would take longer to load than the reading takes.
 */

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields with a text of what should be an object of texts; those of another type count as missing. */
export function textsOf(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** The value of a text that a program elsewhere wrote; undefined when that is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
