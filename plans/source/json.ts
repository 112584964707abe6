/**
 * Manifests are read leniently, as their own tools read them, by a process that starts with each build: loading a schema
 * library would take longer than reading the file.
 */

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the string fields of an object that should contain only strings; other values count as missing. */
export function textsOf(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** Parses JSON that another program wrote; undefined when it is not valid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
