import { Body } from '../../../proxy/http1/body.ts'
import { latin1 } from '../../../proxy/http1/bytes.ts'
import {
  COMPLETE,
  HEAD_GROWTH_BYTES,
  Head,
  INCOMPLETE,
  MAX_HEAD_BYTES,
  dropNamedLines,
} from '../../../proxy/http1/head.ts'
import { METHOD_REFUSED, parseRequestHead } from '../../../proxy/http1/request-head.ts'
import { parseResponseHead } from '../../../proxy/http1/response-head.ts'
import { pairs, type Message, type Reading } from './message.ts'

/** A message as the relay reads it, and what it sends on. */
export interface RelayMessage extends Message {
  /** The head without the fields that the relay adds, then the body as it came. */
  forwarded: string
  /** The connection ends after it. */
  closes: boolean
  /** Its Connection names upgrade: it offers another protocol, even one that the relay does not pass on, such as h2c. */
  upgrades: boolean
  /** It expects something of the server, which need not be passed to the upstream. */
  expects: boolean
}

export interface RelayReading extends Reading {
  messages: readonly RelayMessage[]
}

const output = Buffer.alloc(MAX_HEAD_BYTES + HEAD_GROWTH_BYTES + 1024)
const data = Buffer.alloc(2 * MAX_HEAD_BYTES)
const head = new Head()

type Parse = typeof parseRequestHead

/**
 * Parses the head at `at` as the relay does when it comes in pieces that end at `cuts`: again from the start whenever
 * more has come. A result before the last byte must be the result for all bytes.
 */
function parse(parser: Parse, input: Buffer, at: number, cuts: readonly number[]): number {
  for (const end of [...cuts, input.length]) {
    if (end <= at) continue
    head.reset()
    const result = parser(input, at, end, output, 0, head)
    const bytes = result === COMPLETE ? head.inputEnd - at : end - at
    if (bytes > MAX_HEAD_BYTES && (result === COMPLETE || result === INCOMPLETE)) return 431
    if (result !== INCOMPLETE) return result
  }
  return INCOMPLETE
}

/** The lines of the head in the output, after the relay removed what `Connection` names. */
function keptHead(extra: readonly string[]): { text: string; fields: [string, string][] } {
  const names = [...(head.connectionNames ?? []), ...extra]
  if (names.length > 0) dropNamedLines(output, head, names)
  const text = latin1(output, 0, head.outputEnd)
  const lines = text.split('\r\n').slice(1, -1)
  return {
    text,
    fields: pairs(
      lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    ),
  }
}

/** Follows a body that begins at `at` and comes in pieces. Returns where it ends and its data, null for bad framing. */
function readBody(
  body: Body,
  input: Buffer,
  at: number,
  cuts: readonly number[],
): { end: number; text: string } | null {
  let text = ''
  for (const end of [...cuts, input.length]) {
    if (end <= at || body.done) continue
    const stop = body.copy(input, at, end, data, 0, head.chunked)
    if (stop < 0) return null
    text += latin1(data, 0, body.copiedTo)
    at = stop
  }
  return { end: at, text }
}

/** How the relay reads the bytes that a client sends in pieces that end at `cuts`. */
export function readRequests(input: Buffer, cuts: readonly number[] = []): RelayReading {
  const messages: RelayMessage[] = []
  for (let at = 0; at < input.length;) {
    const result = parse(parseRequestHead, input, at, cuts)
    if (result === INCOMPLETE) break
    if (result !== COMPLETE) return { messages, fault: String(result) }
    if (head.method === METHOD_REFUSED) return { messages, fault: '405' }
    const { minorVersion, close, expectsContinue, expectsOther, connectionUpgrade: upgrades } = head
    const { text, fields } = keptHead(expectsContinue && minorVersion === 0 ? ['expect'] : [])
    const [method, target] = text.split(' ', 2)
    const body = new Body()
    if (head.chunked) body.chunked()
    else body.length(Math.max(head.contentLength, 0))
    const from = head.inputEnd
    const read = readBody(body, input, from, cuts)
    const closes = close || minorVersion === 0
    messages.push({
      start: `${method} ${target}`,
      fields,
      body: read?.text ?? '',
      complete: read !== null && body.done,
      forwarded: `${text}\r\n${latin1(input, from, read?.end ?? from)}`,
      closes,
      upgrades,
      expects: expectsContinue || expectsOther,
    })
    if (!read) return { messages, fault: '400' }
    if (closes || !body.done) break
    at = read.end
  }
  return { messages, fault: null }
}

/** How the relay reads an upstream's answers to one request, up to the end of its connection. */
export function readAnswer(method: string, input: Buffer, cuts: readonly number[] = []): RelayReading {
  const messages: RelayMessage[] = []
  for (let at = 0; at < input.length;) {
    const result = parse(parseResponseHead, input, at, cuts)
    if (result === INCOMPLETE) break
    if (result !== COMPLETE) return { messages, fault: String(result) }
    // Nobody asked for another protocol.
    if (head.status === 101) return { messages, fault: '101' }
    const { status, minorVersion } = head
    const { text, fields } = keptHead(head.upgrade ? ['upgrade'] : [])
    const from = head.inputEnd
    const body = new Body()
    const interim = status < 200
    if (interim || method === 'HEAD' || status === 204 || status === 304) body.none()
    else if (head.chunked) body.chunked()
    else if (head.contentLength !== -1) body.length(head.contentLength)
    else body.untilClose()
    const strip = head.chunked
    head.chunked = strip && !body.done
    const read = readBody(body, input, from, cuts)
    messages.push({
      start: String(status),
      fields,
      body: read?.text ?? '',
      complete: read !== null && (body.done || body.endsWithConnection),
      forwarded: `${text}\r\n${latin1(input, from, read?.end ?? from)}`,
      closes: head.close || minorVersion === 0 || body.endsWithConnection,
      upgrades: false,
      expects: false,
    })
    if (!read) return { messages, fault: '502' }
    if (!interim) break
    at = read.end
  }
  return { messages, fault: null }
}
