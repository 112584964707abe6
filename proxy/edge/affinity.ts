import { ascii, equalsIgnoringCase, latin1 } from '../http1/bytes.ts'
import { dropLine, lineEnd, shortenValue, type Head } from '../http1/head.ts'
import { crypto } from '../modules.ts'

const COOKIE = ascii('cookie')
const PAIR = 'deployer_affinity='
/** Characters of a token: 96 bits. */
const TOKEN_CHARACTERS = 16

/** Returns the value that stands for an instance in cookies, without naming it. It is the same in all workers. */
export function tokenOf(instance: string): string {
  return crypto().hash('sha256', `affinity ${instance}`, 'base64url').slice(0, TOKEN_CHARACTERS)
}

/** Returns the line that leads a client to the same instance from now on. */
export function affinityLine(token: string, secure: boolean): string {
  return `Set-Cookie: ${PAIR}${token}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}\r\n`
}

/**
 * Takes the token out of the cookies of a copied head, so that the application does not get it. Other cookies stay byte for
 * byte. Returns null if there is none.
 */
export function takeToken(output: Buffer, head: Head): string | null {
  let token: string | null = null
  for (let line = head.lines - 1; line >= 0; line--) {
    const nameEnd = head.nameEnds[line]!
    if (!equalsIgnoringCase(output, head.lineStarts[line]!, nameEnd, COOKIE)) continue
    const value = latin1(output, nameEnd + 2, lineEnd(line, head))
    if (!value.includes(PAIR)) continue
    const [own, others] = split(value)
    token = own ?? token
    if (others === '') dropLine(output, head, line)
    else shortenValue(output, head, line, others)
  }
  return token
}

/** Returns the first token among the pairs, and the other pairs as they are. */
function split(value: string): [token: string | null, others: string] {
  const pairs = Map.groupBy(value.split(';'), (pair) => pair.trimStart().startsWith(PAIR))
  const own = pairs.get(true)?.[0]
  const others = pairs.get(false)?.join(';') ?? ''
  return [
    own === undefined ? null : own.trim().slice(PAIR.length),
    own === undefined ? others : others.trimStart(),
  ]
}
