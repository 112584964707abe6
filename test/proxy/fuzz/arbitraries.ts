import {
  array,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
  type Arbitrary,
} from 'fast-check'
import { trim } from './message.ts'

const TCHAR = [..."!#$%&'*+-.^`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]
/** Every byte that is allowed in a field value. */
const VALUE = Array.from({ length: 256 }, (_, code) => code)
  .filter((code) => code === 9 || (code >= 32 && code !== 127))
  .map((code) => String.fromCharCode(code))
const TARGET = [...'/?&=%;:@!$\'()*+,-._~#[]{}|^`"<>\\09azAZ']

/** Names without a meaning to the relay. */
const name = string({ unit: constantFrom(...TCHAR), maxLength: 12 }).map((text) => `X${text}`)
const value = string({ unit: constantFrom(...VALUE), maxLength: 40 }).map(trim)
const space = constantFrom('', ' ', '\t', '  \t ')

export type Field = readonly [name: string, value: string]

/** An HTTP/1.1 message: its meaning, and bytes that express it. */
export interface Sample {
  start: string
  fields: readonly Field[]
  body: string
  /** The body with its framing. */
  framed: string
  bytes: string
}

interface Framed {
  fields: readonly Field[]
  body: string
  framed: string
}

const data = uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) =>
  Buffer.from(bytes).toString('latin1'),
)
const token = string({ unit: constantFrom(...TCHAR), minLength: 1, maxLength: 8 })
const quoted = string({
  unit: constantFrom(...VALUE.filter((character) => character !== '"' && character !== '\\')),
  maxLength: 8,
}).map((text) => `"${text}\\"\\\\"`)
const extension = oneof(
  { weight: 4, arbitrary: constant('') },
  token.map((name) => `;${name}`),
  tuple(token, oneof(token, quoted)).map(([name, text]) => `;${name}=${text}`),
)
const size = (length: number): Arbitrary<string> =>
  tuple(integer({ min: 0, max: 8 }), constantFrom(false, true)).map(([zeros, upper]) => {
    const digits = '0'.repeat(zeros) + length.toString(16)
    return upper ? digits.toUpperCase() : digits
  })

const chunk = data.chain((text) =>
  tuple(size(text.length), extension).map(([digits, more]) => ({
    text,
    framed: `${digits}${more}\r\n${text}\r\n`,
  })),
)

const chunked: Arbitrary<Framed> = tuple(
  array(chunk, { maxLength: 6 }),
  size(0),
  extension,
  array(tuple(name, value), { maxLength: 2 }),
).map(([chunks, last, more, trailers]) => ({
  fields: [['Transfer-Encoding', 'chunked']],
  body: chunks.map(({ text }) => text).join(''),
  framed: `${chunks.map(({ framed }) => framed).join('')}${last}${more}\r\n${trailers.map(([name, text]) => `${name}:${text}\r\n`).join('')}\r\n`,
}))

const counted: Arbitrary<Framed> = oneof(data, constant('')).map((body) => ({
  fields: [['Content-Length', String(body.length)]],
  body,
  framed: body,
}))

const unframed: Arbitrary<Framed> = constant({ fields: [], body: '', framed: '' })

const fields = array(tuple(name, value), { maxLength: 12 })

/** A message with these framings, its framing field somewhere among the others, and white space around the values. */
function messageOf(
  start: Arbitrary<{ line: string; start: string }>,
  first: readonly Field[],
  framing: Arbitrary<Framed>,
): Arbitrary<Sample> {
  return record({
    start,
    fields,
    framing,
    at: integer({ min: 0, max: 12 }),
    before: space,
    after: constantFrom('', ' '),
  }).map(({ start, fields, framing, at, before, after }) => {
    const all: Field[] = [...first, ...fields.slice(0, at), ...framing.fields, ...fields.slice(at)]
    const head = all.map(([name, text]) => `${name}:${before}${text}${after}\r\n`).join('')
    const bytes = `${start.line}\r\n${head}\r\n${framing.framed}`
    return { start: start.start, fields: all, body: framing.body, framed: framing.framed, bytes }
  })
}

const requestLine = tuple(
  constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'),
  string({ unit: constantFrom(...TARGET), maxLength: 60 }),
  constantFrom('', 'http://app.test', 'HTTPS://APP.TEST'),
).map(([method, path, origin]) => ({
  start: `${method} /${path}`,
  line: `${method} ${origin}/${path} HTTP/1.1`,
}))

export const request: Arbitrary<Sample> = messageOf(
  requestLine,
  [['Host', 'app.test']],
  oneof(unframed, counted, chunked),
)

const statusLine = tuple(
  constantFrom(200, 201, 206, 302, 404, 500, 599, 999),
  string({ unit: constantFrom(...VALUE), maxLength: 20 }).map(trim),
).map(([status, reason]) => ({ start: `${status} ${reason}`, line: `HTTP/1.1 ${status} ${reason}` }))

/** An answer that leaves its connection open. */
export const answer: Arbitrary<Sample> = messageOf(statusLine, [], oneof(counted, chunked))

/** Places to cut bytes at. */
export const cuts = (length: number): Arbitrary<number[]> =>
  array(integer({ min: 0, max: length }), { maxLength: 6 }).map((places) =>
    places.toSorted((one, other) => one - other),
  )
