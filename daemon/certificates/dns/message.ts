import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { TsigAlgorithm } from '#server/options/dns-provider.ts'

/** The wire format of DNS UPDATE (RFC 2136) and its signature (RFC 8945), as far as one TXT record needs it. */

const TYPE = { SOA: 6, TXT: 16, TSIG: 250 } as const
const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const
const OPCODE_UPDATE = 5
const HEAD_BYTES = 12
/** RFC 8945 section 10: by how many seconds the clocks of both ends may differ. */
const FUDGE_SECONDS = 300
const HASHES: Record<TsigAlgorithm, string> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
}

/** A key that both ends have. */
export interface TsigKey {
  name: string
  /** In base64. */
  secret: string
  algorithm: TsigAlgorithm
}

/** Adds or removes one TXT record. */
export interface TxtUpdate {
  zone: string
  name: string
  value: string
  action: 'add' | 'remove'
  ttl: number
}

/** A message ready to be sent. */
export interface Signed {
  id: number
  bytes: Buffer
  /** The signature, which the answer's signature covers; null without a key. */
  mac: Buffer | null
}

/** Returns a request that changes one TXT record, signed if there is a key. */
export function updateRequest(update: TxtUpdate, key: TsigKey | null): Signed {
  const id = randomInt(0x10000)
  const zone = Buffer.concat([wireName(update.zone), uint16(TYPE.SOA), uint16(CLASS.IN)])
  const text = Buffer.from(update.value)
  const data = Buffer.concat([Buffer.of(text.length), text])
  const isAdded = update.action === 'add'
  const record = Buffer.concat([
    ...[wireName(update.name), uint16(TYPE.TXT), uint16(isAdded ? CLASS.IN : CLASS.NONE)],
    ...[uint32(isAdded ? update.ttl : 0), uint16(data.length), data],
  ])
  const head = (additional: number) =>
    Buffer.concat([id, OPCODE_UPDATE << 11, 1, 0, 1, additional].map(uint16))
  const body = Buffer.concat([zone, record])
  if (!key) return { id, bytes: Buffer.concat([head(0), body]), mac: null }
  const seconds = Math.floor(Date.now() / 1_000)
  const { variables, tail } = tsigParts(key, seconds)
  const mac = createHmac(HASHES[key.algorithm], Buffer.from(key.secret, 'base64'))
    .update(Buffer.concat([head(0), body, variables]))
    .digest()
  return { id, bytes: Buffer.concat([head(1), body, tail(mac, id)]), mac }
}

/** Returns the code with which a name server answered an update, 0 for success. Throws for a missing or wrong signature. */
export function readAnswer(answer: Buffer, request: Signed, key: TsigKey | null): number {
  if (answer.length < HEAD_BYTES || answer.readUInt16BE(0) !== request.id)
    throw new Error('the answer does not belong to this request')
  const code = answer.readUInt16BE(2) & 0xf
  // An answer that refuses the request's signature is not signed.
  if (key && code === 0) verifyAnswer(answer, request, key)
  return code
}

/** The names of the codes of RFC 2136 section 2.2 and RFC 8945. */
export const CODES: Record<number, string> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  4: 'NOTIMP',
  5: 'REFUSED',
  8: 'NXRRSET',
  9: 'NOTAUTH (wrong key name or secret)',
  10: 'NOTZONE',
}

function verifyAnswer(answer: Buffer, request: Signed, key: TsigKey): void {
  const at = signatureAt(answer, key)
  const { mac, seconds } = readSignature(answer, at, key)
  const head = Buffer.from(answer.subarray(0, HEAD_BYTES))
  head.writeUInt16BE(head.readUInt16BE(10) - 1, 10)
  const expected = createHmac(HASHES[key.algorithm], Buffer.from(key.secret, 'base64'))
    .update(Buffer.concat([uint16(request.mac!.length), request.mac!, head]))
    .update(answer.subarray(HEAD_BYTES, at))
    .update(tsigParts(key, seconds).variables)
    .digest()
  if (expected.length !== mac.length || !timingSafeEqual(expected, mac))
    throw new Error('the signature of the answer is wrong')
}

/** Returns the offset of the TSIG record: it is the last and begins with the key's name, which is never compressed. */
function signatureAt(answer: Buffer, key: TsigKey): number {
  const at = answer.lastIndexOf(Buffer.concat([wireName(key.name), uint16(TYPE.TSIG), uint16(CLASS.ANY)]))
  if (at < 0) throw new Error('the answer is not signed')
  return at
}

function readSignature(answer: Buffer, at: number, key: TsigKey): { mac: Buffer; seconds: number } {
  // Name, type, class, TTL and length, then the algorithm.
  const data = at + wireName(key.name).length + 10 + wireName(key.algorithm).length
  const seconds = answer.readUIntBE(data, 6)
  const length = answer.readUInt16BE(data + 8)
  return { mac: answer.subarray(data + 10, data + 10 + length), seconds }
}

/** Returns what a signature covers besides the message, and the record that carries it (RFC 8945 sections 4.2 and 4.3.3). */
function tsigParts(
  { name, algorithm }: TsigKey,
  seconds: number,
): { variables: Buffer; tail: (mac: Buffer, id: number) => Buffer } {
  const time = Buffer.alloc(6)
  time.writeUIntBE(seconds, 0, 6)
  const owner = wireName(name)
  const hash = wireName(algorithm)
  const noError = Buffer.concat([uint16(0), uint16(0)])
  return {
    variables: Buffer.concat([
      owner,
      uint16(CLASS.ANY),
      uint32(0),
      hash,
      time,
      uint16(FUDGE_SECONDS),
      noError,
    ]),
    tail(mac, id) {
      const data = Buffer.concat([
        hash,
        time,
        uint16(FUDGE_SECONDS),
        uint16(mac.length),
        mac,
        uint16(id),
        noError,
      ])
      const head = [owner, uint16(TYPE.TSIG), uint16(CLASS.ANY), uint32(0), uint16(data.length)]
      return Buffer.concat([...head, data])
    },
  }
}

/** Encodes a name as labels with their lengths (RFC 1035 section 3.1), in lower case as signatures require. */
function wireName(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.of(Buffer.byteLength(label)), Buffer.from(label)]),
    Buffer.of(0),
  ])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
