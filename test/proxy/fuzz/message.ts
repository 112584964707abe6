/** A message as one reader understood it. Texts have one character per byte. */
export interface Message {
  /** Method and target, or the status. */
  start: string
  fields: readonly (readonly [name: string, value: string])[]
  body: string
  /** Its last byte was read. */
  complete: boolean
}

/** What a reader made of the bytes of one connection. */
export interface Reading {
  messages: readonly Message[]
  /** Why it stopped reading: the bytes are malformed. */
  fault: string | null
}

/** The pairs of a list of alternating names and values, as node returns them, without white space around the values. */
export function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, trim(raw[2 * index + 1]!)])
}

/** Removes only SP and HTAB at both ends. */
export function trim(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '')
}
