import { TARGET, TOKEN } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { crypto } from '../modules.ts'
import { KIND, type Field } from './field.ts'
import { readPriority, type Priority } from './priority.ts'

/** Max fields of a request, including the parts of cookies and pseudo fields; the relay counts those that are left. */
export const MAX_PAIRS = 1_000
/** Digits of a length that the relay accepts. */
const LENGTH = /^\d{1,15}$/
const WEB_SOCKET_KEY_BYTES = 16
/** Replaces a request with too many fields, so that the relay refuses it as such. */
const TOO_MANY = `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(101)}\r\n`

/** How the relay sees a request's body. */
export const BODY = { none: 0, length: 1, chunked: 2, tunnel: 3 } as const

/** The properties of a request that are not part of its head, or are more useful apart from it. */
export interface RequestFraming {
  /** One of `BODY`. */
  readonly body: number
  /** The length of a body with `BODY.length`. */
  readonly length: number
  readonly priority: Priority | null
}

/** A request as in HTTP/1.1. */
export interface RequestHead extends RequestFraming {
  readonly text: string
  /** Where the header lines begin, if requests with the same fields and another path have the same lines; else 0. */
  readonly linesStart: number
}

/** Collects the fields of one request after another, and turns them into an HTTP/1.1 head, which the relay checks. */
export class RequestFields {
  #method: string | null = null
  #path: string | null = null
  #scheme: string | null = null
  #authority: string | null = null
  #protocol: string | null = null
  #host: string | null = null
  #cookies: string | null = null
  #length: string | null = null
  #priority: string | null = null
  #lines = ''
  #bytes = 0
  #pairs = 0
  /** Whether a regular field has come, after which no pseudo field may come (RFC 9113 8.3). */
  #regular = false
  #malformed = false

  /** Gets ready for the next request. */
  begin(): void {
    this.#method = null
    this.#path = null
    this.#scheme = null
    this.#authority = null
    this.#protocol = null
    this.#host = null
    this.#cookies = null
    this.#length = null
    this.#priority = null
    this.#lines = ''
    this.#bytes = 0
    this.#pairs = 0
    this.#regular = false
    this.#malformed = false
  }

  take(field: Field): void {
    this.#bytes += field.size
    if (++this.#pairs > MAX_PAIRS || this.#bytes > MAX_HEAD_BYTES) return
    const { kind, value } = field
    if (kind === KIND.regular) {
      this.#regular = true
      this.#lines += field.line
    } else if (kind <= KIND.status) this.#takePseudo(kind, value)
    else this.#takeSpecial(field)
  }

  #takePseudo(kind: number, value: string): void {
    if (this.#regular) this.#malformed = true
    if (kind === KIND.method) this.#method = this.#once(this.#method, value)
    else if (kind === KIND.path) this.#path = this.#once(this.#path, value)
    else if (kind === KIND.scheme) this.#scheme = this.#once(this.#scheme, value)
    else if (kind === KIND.authority) this.#authority = this.#once(this.#authority, value)
    else if (kind === KIND.protocol) this.#protocol = this.#once(this.#protocol, value)
    else this.#malformed = true
  }

  #once(before: string | null, value: string): string {
    if (before !== null) this.#malformed = true
    return value
  }

  #takeSpecial({ kind, value, line }: Field): void {
    this.#regular = true
    if (kind === KIND.host) {
      if (this.#host !== null) this.#lines += line
      this.#host = value
    } else if (kind === KIND.cookie) {
      // Parts of one field, sent separately because that compresses better (RFC 9113 8.2.3).
      if (!this.#cookies) this.#cookies = value
      else if (value !== '') this.#cookies += `; ${value}`
    } else if (kind === KIND.contentLength) {
      // Keeps both, so that the relay refuses the request.
      if (this.#length !== null) this.#lines += line
      this.#length = value
    } else if (kind === KIND.priority) {
      this.#priority = value
      this.#lines += line
    } else this.#malformed = true
  }

  /** Returns the fields after a body as lines; null if they are malformed (RFC 9113 8.1). */
  trailers(): string | null {
    const hasPseudo = this.#method ?? this.#path ?? this.#scheme ?? this.#authority ?? this.#protocol
    if (this.#malformed || hasPseudo !== null || this.#tooMany) return null
    return this.#lines
  }

  /** Returns the head of the request; `hasBody` says whether a body follows. Null if it is malformed. */
  head(hasBody: boolean): RequestHead | null {
    if (this.#malformed) return null
    const priority = this.#readPriority()
    if (this.#tooMany) return { text: TOO_MANY, linesStart: 0, body: BODY.none, length: 0, priority }
    const method = this.#method
    if (method === null || !isMethod(method)) return null
    if (method === 'CONNECT') return this.#connect(hasBody)
    if (this.#protocol !== null || !this.#scheme || !isPath(this.#path, method)) return null
    const declared = this.#length !== null
    const length = declared && LENGTH.test(this.#length!) ? Number(this.#length) : 0
    // RFC 9113 8.1.1: the length must match what follows.
    if (!hasBody && length > 0) return null
    const body = hasBody ? (declared ? BODY.length : BODY.chunked) : BODY.none
    const framing = declared
      ? `content-length: ${this.#length}\r\n`
      : hasBody
        ? 'transfer-encoding: chunked\r\n'
        : ''
    const text = this.#text(method, this.#path!, framing)
    return { text, linesStart: text.indexOf('\n') + 1, body, length, priority }
  }

  #readPriority(): Priority | null {
    return this.#priority === null ? null : readPriority(this.#priority)
  }

  get #tooMany(): boolean {
    return this.#pairs > MAX_PAIRS || this.#bytes > MAX_HEAD_BYTES
  }

  #text(method: string, target: string, framing: string): string {
    const authority = this.#authority ?? ''
    const host = this.#host ?? ''
    let lines = this.#lines
    // Both must name the same host (RFC 9113 8.3.1): otherwise the request is refused.
    if (authority !== '' && host !== '' && authority.toLowerCase() !== host.toLowerCase())
      lines += `host: ${host}\r\n`
    if (this.#cookies !== null) lines += `cookie: ${this.#cookies}\r\n`
    return `${method} ${target} HTTP/1.1\r\nhost: ${authority || host}\r\n${lines}${framing}\r\n`
  }

  /** A tunnel for WebSockets (RFC 8441 5) becomes an upgrade; the relay refuses any other CONNECT. */
  #connect(hasBody: boolean): RequestHead | null {
    const priority = this.#readPriority()
    const isExtended = this.#protocol !== null
    if (isExtended !== (this.#path !== null) || isExtended !== (this.#scheme !== null)) return null
    if (this.#protocol?.toLowerCase() !== 'websocket') {
      // What follows it is not a body, whatever its head says (RFC 9113 8.5).
      const target = this.#authority || this.#host || '/'
      return isTarget(target)
        ? { text: this.#text('CONNECT', target, ''), linesStart: 0, body: BODY.none, length: 0, priority }
        : null
    }
    if (!hasBody || !isPath(this.#path, 'GET')) return null
    const key = crypto().randomBytes(WEB_SOCKET_KEY_BYTES).toString('base64')
    const upgrade = `connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ${key}\r\n`
    const text = this.#text('GET', this.#path!, upgrade)
    return { text, linesStart: 0, body: BODY.tunnel, length: 0, priority }
  }
}

function isMethod(text: string): boolean {
  return text !== '' && holds(text, TOKEN)
}

/** Whether it is a path of RFC 9113 8.3.1: it begins with a slash, or is the asterisk of OPTIONS. */
export function isPath(text: string | null, method: string): boolean {
  if (text === null || !isTarget(text)) return false
  return text.charCodeAt(0) === 47 || (text === '*' && method === 'OPTIONS')
}

function isTarget(text: string): boolean {
  return text !== '' && holds(text, TARGET)
}

function holds(text: string, classOf: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (classOf[text.charCodeAt(index)] !== 1) return false
  return true
}
