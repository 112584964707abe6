import { CR, ascii, equalsIgnoringCase, latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'

const COOKIE = ascii('cookie')
/** What the dashboard's cookies begin with; the port by which it is used follows. */
const SESSION = 'deployer_session_'
const EQUALS = 61
const SEMICOLON = 59
const STAR = 42

/**
 * Makes the dashboard's sessions unreadable in a copied head, byte for byte. A browser knows no ports in cookies: under the
 * name by which somebody uses the dashboard at its own port it sends the session to whatever answers at the usual one too.
 */
export function hideSessions(output: Uint8Array, head: Head): void {
  for (let line = 0; line < head.lines; line++) {
    const nameEnd = head.nameEnds[line]!
    if (!equalsIgnoringCase(output, head.lineStarts[line]!, nameEnd, COOKIE)) continue
    const end = line + 1 < head.lines ? head.lineStarts[line + 1]! : head.outputEnd
    const value = latin1(output, nameEnd, end)
    // From pair to pair: what is looked at twice by a long line of names is looked at thousands of times.
    let at = value.indexOf(SESSION)
    while (at !== -1) at = value.indexOf(SESSION, hideValue(output, nameEnd + at + SESSION.length) - nameEnd)
  }
}

/** Stars in place of what stands behind the `=` of a pair. Answers the pair's end. */
function hideValue(output: Uint8Array, at: number): number {
  while (output[at] !== EQUALS && !endsPair(output[at]!)) at++
  if (output[at] === EQUALS) at++
  while (!endsPair(output[at]!)) output[at++] = STAR
  return at
}

function endsPair(byte: number): boolean {
  return byte === SEMICOLON || byte === CR
}
