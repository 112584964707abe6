import { CR, SPACE, ascii, equalsIgnoringCase } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'

const COOKIE = ascii('cookie')
/** What the dashboard's cookies begin with; the port by which it is used follows. */
const SESSION = Buffer.from('deployer_session_')
const EQUALS = 61
const SEMICOLON = 59
const STAR = 42

/**
 * Makes the dashboard's sessions unreadable in a copied head, byte for byte. A browser knows no ports in cookies: under the
 * name by which somebody uses the dashboard at its own port it sends the session to whatever answers at the usual one too.
 */
export function hideSessions(output: Buffer, head: Head): void {
  for (let index = 0; index < head.lines; index++) {
    const nameEnd = head.nameEnds[index]!
    if (!equalsIgnoringCase(output, head.lineStarts[index]!, nameEnd, COOKIE)) continue
    const end = index + 1 < head.lines ? head.lineStarts[index + 1]! : head.outputEnd
    hideIn(output.subarray(nameEnd, end))
  }
}

function hideIn(line: Buffer): void {
  let at = line.indexOf(SESSION)
  while (at !== -1) {
    const isName = line[at - 1] === SPACE || line[at - 1] === SEMICOLON
    const after = at + SESSION.length
    // From pair to pair: what is looked at twice by a long line of names is looked at thousands of times.
    at = line.indexOf(SESSION, isName ? hideValue(line, after) : after)
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
