import { ENTRY_BYTES } from './dynamic-table.ts'

/** Kinds of fields, by what a request does with them. */
export const KIND = {
  regular: 0,
  method: 1,
  scheme: 2,
  authority: 3,
  path: 4,
  /** Of extended CONNECT (RFC 8441 4). */
  protocol: 5,
  status: 6,
  host: 7,
  cookie: 8,
  contentLength: 9,
  priority: 10,
  /** Makes its request malformed (RFC 9113 8.1.1). */
  malformed: 11,
  /** The kind of the name only: the value decides (RFC 9113 8.2.2). */
  te: 12,
} as const

const KINDS = new Map<string, number>([
  [':method', KIND.method],
  [':scheme', KIND.scheme],
  [':authority', KIND.authority],
  [':path', KIND.path],
  [':protocol', KIND.protocol],
  [':status', KIND.status],
  ['host', KIND.host],
  ['cookie', KIND.cookie],
  ['content-length', KIND.contentLength],
  ['priority', KIND.priority],
  ['te', KIND.te],
  // Fields about an HTTP/1.1 connection are not allowed in HTTP/2 (RFC 9113 8.2.2).
  ['connection', KIND.malformed],
  ['keep-alive', KIND.malformed],
  ['proxy-connection', KIND.malformed],
  ['transfer-encoding', KIND.malformed],
  ['upgrade', KIND.malformed],
])

/** RFC 9110 5.6.2, in lower case (RFC 9113 8.2.1). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** Bytes that a value must not contain. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/
const WHITE_SPACE = /^[\t ]|[\t ]$/

/** A field as it is in a table: checked once, however often it is repeated. */
export interface Field {
  readonly name: string
  readonly value: string
  readonly kind: number
  /** The kind by name alone. */
  readonly kindOfName: number
  /** The line as in HTTP/1.1. */
  readonly line: string
  /** What it counts in a table, and in a list, in bytes. */
  readonly size: number
}

/** Checks a field. */
export function fieldOf(name: string, value: string): Field {
  return checked(name, KINDS.get(name) ?? (NAME.test(name) ? KIND.regular : KIND.malformed), value)
}

/** Checks a field with the name of one in a table: a block of 64 KiB may repeat a name of 4 KiB 30,000 times. */
export function fieldNamed({ name, kindOfName }: Field, value: string): Field {
  return checked(name, kindOfName, value)
}

function checked(name: string, kindOfName: number, value: string): Field {
  const size = name.length + value.length + ENTRY_BYTES
  return { name, value, kind: kindOf(kindOfName, value), kindOfName, line: `${name}: ${value}\r\n`, size }
}

function kindOf(kindOfName: number, value: string): number {
  // Paths differ from request to request, and allow fewer bytes than other values: `isPath` checks them with the request.
  if (kindOfName === KIND.path) return KIND.path
  if (NOT_IN_VALUE.test(value) || WHITE_SPACE.test(value)) return KIND.malformed
  if (kindOfName !== KIND.te) return kindOfName
  return value.toLowerCase() === 'trailers' ? KIND.regular : KIND.malformed
}
