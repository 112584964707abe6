/**
 * Control sequences of terminals (ECMA-48): CSI; the strings OSC, DCS, SOS, PM and APC with their ends; other escapes.
 * Then what is left of the control characters but TAB and newline.
 */
const SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
/** Embeddings, overrides, isolates and marks (Unicode, UAX 9): they make a text read differently from how it is written. */
const REORDERING = /\p{Bidi_Control}/gu

/** Untrusted text without terminal control sequences, and in the order in which it was written. */
export function plainText(text: string): string {
  return inOrder(text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, ''))
}

/** A text without characters that reorder it; right-to-left scripts do not need them. */
export function inOrder(text: string): string {
  return text.replace(REORDERING, '')
}

/** The first line of untrusted text. */
export function firstLine(text: string): string {
  return plainText(text).trim().split('\n')[0]!
}

/** Text that keeps its case: an address, a path, a file name, a field name; an id; a name that is taken. */
const LITERAL = /^\S*(?::\/\/|[/_]|\.\S)|^[a-z]{3}-[0-9a-f]{20}\b|^\S+ is (?:in use by|the name of) /

/** A message of the server as a sentence of its own. */
export function sentence(text: string): string {
  return LITERAL.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
}
