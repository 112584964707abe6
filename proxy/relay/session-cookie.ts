import { CR, SPACE, ascii, equalsIgnoringCase } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'

const COOKIE = ascii('cookie')
/** How the names of the dashboard's cookies begin; the port at which it is used follows. */
const SESSION = Buffer.from('deployer_session_')
const EQUALS = 61
const SEMICOLON = 59
const STAR = 42

/**
 * Overwrites the dashboard's sessions in a copied head, keeping its length. Cookies do not depend on the port: a browser
 * that uses the dashboard under this host name at its own port also sends the session to services at the usual port.
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
    // Goes from pair to pair: bytes that are scanned twice would be scanned thousands of times in a long line of names.
    at = line.indexOf(SESSION, isName ? hideValue(line, after) : after)
  }
}

/** Replaces the value after the `=` of a pair by stars. Returns the end of the pair. */
function hideValue(output: Uint8Array, at: number): number {
  while (output[at] !== EQUALS && !endsPair(output[at]!)) at++
  if (output[at] === EQUALS) at++
  while (!endsPair(output[at]!)) output[at++] = STAR
  return at
}

function endsPair(byte: number): boolean {
  return byte === SEMICOLON || byte === CR
}
