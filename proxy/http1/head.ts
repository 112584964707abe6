import { LF, latin1, putText } from './bytes.ts'

/** A request line longer than this is refused with 414. */
export const MAX_REQUEST_LINE_BYTES = 8 * 1024
/** A head longer than this, request line included, is refused with 431. */
export const MAX_HEAD_BYTES = 64 * 1024
/** A request with more fields is refused with 431. */
export const MAX_FIELDS = 100
/** An answer with more fields becomes a 502. The limit is higher because programs set more cookies and policies. */
export const MAX_ANSWER_FIELDS = 500

/** The parse result of a head that is not complete yet. */
export const INCOMPLETE = -1
/** The parse result of a valid head; any other positive number is the status to refuse it with. */
export const COMPLETE = 0

/** How much a head may grow when it is copied: a space after each colon. */
export const HEAD_GROWTH_BYTES = 4 * 1024

/** One parsed head. One object serves all connections: what is needed after the next parse must be copied out at once. */
export class Head {
  /** Index in the output after the last copied line. */
  outputEnd = 0
  /** Index in the input after the empty line. */
  inputEnd = 0
  minorVersion = 1
  status = 0
  /** The kind of the method, see `request-head.ts`. */
  method = 0
  /** -1 without Content-Length. */
  contentLength = -1
  chunked = false
  close = false
  keepAlive = false
  /** Whether `Connection` names `upgrade`. */
  connectionUpgrade = false
  /** How many options Connection fields have, not counting fields with just one of the usual options. */
  connectionOptions = 0
  /** Whether an `Upgrade` field that does not name h2c was copied. */
  upgrade = false
  expectsContinue = false
  /** Whether there is an expectation that nothing here can meet: 417. */
  expectsOther = false
  hostStart = 0
  hostEnd = 0
  /** Where the value of X-Request-Id starts in the input: 0 if there is none, -1 if it may not be kept. */
  requestIdStart = 0
  requestIdEnd = 0
  /** Seconds of `Keep-Alive: timeout=`, -1 without it. */
  keepAliveSeconds = -1
  /** Names in `Connection` other than close, keep-alive and upgrade, in lower case. */
  connectionNames: string[] | null = null
  /** Values of `X-Forwarded-*` by folded name; collected only from trusted peers. */
  forwarded: Map<string, string> | null = null
  /** Offsets in the output of each copied line and of the end of its name, for the rare second pass. */
  readonly lineStarts = new Int32Array(MAX_ANSWER_FIELDS + 1)
  readonly nameEnds = new Int32Array(MAX_ANSWER_FIELDS + 1)
  lines = 0

  reset(): void {
    this.outputEnd = 0
    this.inputEnd = 0
    this.minorVersion = 1
    this.status = 0
    this.method = 0
    this.contentLength = -1
    this.chunked = false
    this.close = false
    this.keepAlive = false
    this.connectionUpgrade = false
    this.connectionOptions = 0
    this.upgrade = false
    this.expectsContinue = false
    this.expectsOther = false
    this.hostStart = 0
    this.hostEnd = 0
    this.requestIdStart = 0
    this.requestIdEnd = 0
    this.keepAliveSeconds = -1
    this.connectionNames = null
    this.forwarded = null
    this.lines = 0
  }
}

/** Removes the lines with one of these lower case names from `output`. */
export function dropNamedLines(output: Uint8Array, head: Head, names: readonly string[]): void {
  const { lineStarts, nameEnds } = head
  let shift = 0
  let kept = 0
  for (let line = 0; line < head.lines; line++) {
    const start = lineStarts[line]! - shift
    const nameEnd = nameEnds[line]! - shift
    if (!names.includes(latin1(output, start, nameEnd).toLowerCase())) {
      lineStarts[kept] = start
      nameEnds[kept++] = nameEnd
      continue
    }
    let end = nameEnd
    while (output[end] !== LF) end++
    end++
    output.copyWithin(start, end, head.outputEnd)
    head.outputEnd -= end - start
    shift += end - start
  }
  head.lines = kept
}

/** Returns where a copied line ends, before its CRLF: the next one begins right after that. */
export function lineEnd(line: number, head: Head): number {
  return (line + 1 < head.lines ? head.lineStarts[line + 1]! : head.outputEnd) - 2
}

/** Replaces the value of a copied line by one that is not longer. */
export function shortenValue(output: Uint8Array, head: Head, line: number, value: string): void {
  cut(output, head, line, putText(output, head.nameEnds[line]! + 2, value), lineEnd(line, head))
}

/** Removes a copied line. */
export function dropLine(output: Uint8Array, head: Head, line: number): void {
  cut(output, head, line, head.lineStarts[line]!, lineEnd(line, head) + 2)
  head.lineStarts.copyWithin(line, line + 1, head.lines)
  head.nameEnds.copyWithin(line, line + 1, head.lines)
  head.lines--
}

/** Removes bytes of a line. */
function cut(output: Uint8Array, head: Head, line: number, start: number, end: number): void {
  output.copyWithin(start, end, head.outputEnd)
  head.outputEnd -= end - start
  for (let later = line + 1; later < head.lines; later++) {
    head.lineStarts[later]! -= end - start
    head.nameEnds[later]! -= end - start
  }
}

/** Returns the copied fields by name in lower case; values of the same name are joined to one list (RFC 9110 5.3). */
export function fieldsOf(output: Uint8Array, head: Head): Map<string, string> {
  const fields = new Map<string, string>()
  for (let line = 0; line < head.lines; line++) {
    const nameEnd = head.nameEnds[line]!
    const name = latin1(output, head.lineStarts[line]!, nameEnd).toLowerCase()
    const value = latin1(output, nameEnd + 1, lineEnd(line, head)).trim()
    const earlier = fields.get(name)
    fields.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return fields
}
