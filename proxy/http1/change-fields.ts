import { CR, LF, equalsIgnoringCase, putText } from './bytes.ts'

const COLON = 58

/** Changes to the fields of an answer. */
export interface FieldChanges {
  /** The names of the fields that are removed, in lower case. */
  readonly removed: readonly Uint8Array[]
  /** The lines that are added, each with its CRLF. */
  readonly added: string
}

/**
 * Changes the complete head in `bytes[start, end)`, which has room after its end for what is added. Returns its new end.
 */
export function changeFields(
  bytes: Uint8Array,
  start: number,
  end: number,
  { removed, added }: FieldChanges,
): number {
  const linesEnd = removed.length === 0 ? end - 2 : removeLines(bytes, start, removed)
  const to = putText(bytes, linesEnd, added)
  bytes[to] = CR
  bytes[to + 1] = LF
  return to + 2
}

/** Removes the lines with these names. Returns the end of the last line that stays. */
function removeLines(bytes: Uint8Array, start: number, names: readonly Uint8Array[]): number {
  let at = nextLine(bytes, start)
  let to = at
  while (bytes[at] !== CR) {
    const next = nextLine(bytes, at)
    if (!isNamed(bytes, at, names)) {
      if (to !== at) bytes.copyWithin(to, at, next)
      to += next - at
    }
    at = next
  }
  return to
}

function nextLine(bytes: Uint8Array, at: number): number {
  while (bytes[at] !== LF) at++
  return at + 1
}

function isNamed(bytes: Uint8Array, at: number, names: readonly Uint8Array[]): boolean {
  for (const name of names)
    if (bytes[at + name.length] === COLON && equalsIgnoringCase(bytes, at, at + name.length, name))
      return true
  return false
}
