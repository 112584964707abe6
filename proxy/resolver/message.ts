/** Messages of the domain name system (RFC 1035 section 4), as far as this resolver needs them. */

/** RFC 1035 section 4.1.1. */
export const RCODE = { none: 0, format: 1, failure: 2, notImplemented: 4, refused: 5 } as const
/** RFC 1035 section 3.2.2; OPT is RFC 6891's. */
const TYPE = { a: 1, opt: 41, any: 255 } as const
const CLASS_INTERNET = 1

const HEADER_BYTES = 12
/** The longest name on the wire (RFC 1035 section 2.3.4). */
const MAX_NAME_BYTES = 255
const MAX_LABEL_BYTES = 63

/** Bits of the header's third and fourth byte. */
const RESPONSE = 0x80
const AUTHORITATIVE = 0x04
const TRUNCATED = 0x02
const RECURSION_DESIRED = 0x01
const RECURSION_AVAILABLE = 0x80

/** An answer's pointer to the name in the question, right after the header (RFC 1035 section 4.1.4). */
const QUESTION_POINTER = 0xc000 | HEADER_BYTES
/** The datagram size that this resolver announces to EDNS clients; it needs no fragmentation. */
const EDNS_BYTES = 1_232

/** A question that was understood. */
export interface Query {
  id: number
  /** Name, type and class as they were on the wire; answers repeat them. */
  question: Buffer
  labels: string[]
  /** Whether it asks for IPv4 addresses, alone or with everything else. */
  wantsAddresses: boolean
  recursionDesired: boolean
  /** Whether the client speaks EDNS (RFC 6891). */
  edns: boolean
}

/** How to handle incoming bytes: answer a query, refuse with a code, or stay silent. */
export type Reading = { query: Query } | { fault: Buffer } | null

/** Reads a query. Answers, and bytes that are not a query, get silence: replying to them could go on for ever. */
export function readQuery(message: Buffer): Reading {
  if (message.length < HEADER_BYTES || (message[2]! & RESPONSE) !== 0) return null
  const isStandard = (message[2]! & 0x78) === 0
  if (!isStandard) return { fault: faultOf(message, RCODE.notImplemented) }
  const question = message.readUInt16BE(4) === 1 ? readQuestion(message) : null
  if (!question) return { fault: faultOf(message, RCODE.format) }
  const { end, labels, type } = question
  const query: Query = {
    id: message.readUInt16BE(0),
    question: message.subarray(HEADER_BYTES, end),
    labels,
    wantsAddresses:
      (type === TYPE.a || type === TYPE.any) && message.readUInt16BE(end - 2) === CLASS_INTERNET,
    recursionDesired: (message[2]! & RECURSION_DESIRED) !== 0,
    edns: hasOptions(message, end),
  }
  return { query }
}

/** Returns an answer with these IPv4 addresses, or with none and a code. */
export function writeAnswer(
  query: Query,
  addresses: readonly string[],
  ttlSeconds: number,
  code: number = RCODE.none,
): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt16BE(query.id, 0)
  const isOurs = code === RCODE.none ? AUTHORITATIVE : 0
  head[2] = RESPONSE | isOurs | (query.recursionDesired ? RECURSION_DESIRED : 0)
  head[3] = RECURSION_AVAILABLE | code
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(query.edns ? 1 : 0, 10)
  const records = addresses.map((address) => addressRecord(address, ttlSeconds))
  return Buffer.concat([head, query.question, ...records, ...(query.edns ? [optionsRecord()] : [])])
}

/** Whether bytes are an answer to a query with this id and question. */
export function answers(message: Buffer, id: number, question: Buffer): boolean {
  return (
    message.length >= HEADER_BYTES + question.length &&
    message.readUInt16BE(0) === id &&
    (message[2]! & RESPONSE) !== 0 &&
    message.readUInt16BE(4) === 1 &&
    message.subarray(HEADER_BYTES, HEADER_BYTES + question.length).equals(question)
  )
}

/** Returns the code of an answer. */
export function codeOf(answer: Buffer): number {
  return answer[3]! & 0x0f
}

/** Whether an answer was truncated to fit a datagram, so that the client must ask again over TCP. */
export function isTruncated(answer: Buffer): boolean {
  return (answer[2]! & TRUNCATED) !== 0
}

/** Returns a copy of a message with another id, the only thing that a forwarder changes. */
export function withId(message: Buffer, id: number): Buffer {
  const copy = Buffer.from(message)
  copy.writeUInt16BE(id, 0)
  return copy
}

/** Returns a message as TCP carries it, after its length (RFC 1035 section 4.2.2). */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

/** Returns the first complete message of a TCP stream and the bytes after it; null if it is not complete. */
export function unframe(bytes: Buffer): { message: Buffer; rest: Buffer } | null {
  if (bytes.length < 2) return null
  const end = 2 + bytes.readUInt16BE(0)
  return bytes.length < end ? null : { message: bytes.subarray(2, end), rest: bytes.subarray(end) }
}

/** Reads name, type and end of the question. A compressed name is invalid, since there is nothing before it to point to. */
function readQuestion(message: Buffer): { end: number; labels: string[]; type: number } | null {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (;;) {
    const length = message[at]
    if (length === undefined || length > MAX_LABEL_BYTES) return null
    at += 1 + length
    if (at - HEADER_BYTES > MAX_NAME_BYTES || at > message.length) return null
    if (length === 0) break
    labels.push(message.toString('latin1', at - length, at))
  }
  const end = at + 4
  return end > message.length ? null : { end, labels, type: message.readUInt16BE(at) }
}

/** Whether the question is followed by an OPT record, whose name is the root. */
function hasOptions(message: Buffer, end: number): boolean {
  const isNext = message.readUInt16BE(6) === 0 && message.readUInt16BE(8) === 0
  const isThere = message.readUInt16BE(10) > 0 && message.length >= end + 11
  return isNext && isThere && message[end] === 0 && message.readUInt16BE(end + 1) === TYPE.opt
}

function addressRecord(address: string, ttlSeconds: number): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(QUESTION_POINTER, 0)
  record.writeUInt16BE(TYPE.a, 2)
  record.writeUInt16BE(CLASS_INTERNET, 4)
  record.writeUInt32BE(ttlSeconds, 6)
  record.writeUInt16BE(4, 10)
  for (const [index, octet] of address.split('.').entries()) record[12 + index] = Number(octet)
  return record
}

function optionsRecord(): Buffer {
  const record = Buffer.alloc(11)
  record.writeUInt16BE(TYPE.opt, 1)
  record.writeUInt16BE(EDNS_BYTES, 3)
  return record
}

/** Returns only a header, for a question that cannot be repeated. */
function faultOf(message: Buffer, code: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES)
  message.copy(head, 0, 0, 2)
  head[2] = RESPONSE | (message[2]! & 0x79)
  head[3] = RECURSION_AVAILABLE | code
  return head
}
