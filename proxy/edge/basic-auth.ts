import { SPACE, ascii, equalsIgnoringCase, latin1 } from '../http1/bytes.ts'
import { lineEnd, type Head } from '../http1/head.ts'
import { crypto } from '../modules.ts'
import type { Edge } from '../protocol.ts'

type BasicAuthSpec = NonNullable<Edge['basic_auth']>

const AUTHORIZATION = ascii('authorization')
const SCHEME = ascii('basic')

/** A user name and a password as a client sent them (RFC 7617). */
export interface Credentials {
  /** The line of the head that has them. */
  line: number
  /** As they were sent, in base64. */
  text: string
}

/** The users that may use a service. */
export class BasicAuth {
  /** Stands for these users: it changes with every name and password. */
  readonly version: string
  readonly #hashes: ReadonlyMap<string, string>

  constructor({ users }: BasicAuthSpec) {
    this.version = crypto().hash('sha256', JSON.stringify(users), 'base64')
    this.#hashes = new Map(users.map(({ username, hash }) => [username, hash]))
  }

  /** Whether credentials name one of the users. */
  names(credentials: string): boolean {
    return this.read(credentials).hash !== undefined
  }

  /** Returns the password that a client sent, and the hash of its user's; undefined if there is no such user. */
  read(credentials: string): { password: Buffer; hash: string | undefined } {
    const bytes = Buffer.from(credentials, 'base64')
    const colon = bytes.indexOf(':')
    if (colon < 0) return { password: bytes, hash: undefined }
    return { password: bytes.subarray(colon + 1), hash: this.#hashes.get(bytes.toString('utf8', 0, colon)) }
  }
}

/** Returns the credentials in a copied head; null if there are none, or more than one client's. */
export function credentialsOf(output: Buffer, head: Head): Credentials | null {
  let found = -1
  for (let line = 0; line < head.lines; line++) {
    const start = head.lineStarts[line]!
    const nameEnd = head.nameEnds[line]!
    if (nameEnd - start !== AUTHORIZATION.length) continue
    if (!equalsIgnoringCase(output, start, nameEnd, AUTHORIZATION)) continue
    if (found >= 0) return null
    found = line
  }
  if (found < 0) return null
  const start = head.nameEnds[found]! + 2
  const schemeEnd = start + SCHEME.length
  if (!equalsIgnoringCase(output, start, schemeEnd, SCHEME) || output[schemeEnd] !== SPACE) return null
  return { line: found, text: latin1(output, schemeEnd + 1, lineEnd(found, head)).trimStart() }
}
