import { ENTRY_BYTES } from './dynamic-table.ts'

/** Kinds of fields by what a request does with them. */
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
  /** The request that has it is malformed (RFC 9113 8.1.1). */
  malformed: 11,
  /** Of a name alone: the value decides (RFC 9113 8.2.2). */
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
  // Fields about a connection of HTTP/1.1 have no place in HTTP/2 (RFC 9113 8.2.2).
  ['connection', KIND.malformed],
  ['keep-alive', KIND.malformed],
  ['proxy-connection', KIND.malformed],
  ['transfer-encoding', KIND.malformed],
  ['upgrade', KIND.malformed],
])

/** RFC 9110 5.6.2, in lower case (RFC 9113 8.2.1). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** What a value may not hold anywhere. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/
const WHITE_SPACE = /^[\t ]|[\t ]$/

/** A field as it stands in a table: judged once, however often it is repeated. */
export interface Field {
  readonly name: string
  readonly value: string
  readonly kind: number
  /** What the name alone makes of it. */
  readonly kindOfName: number
  /** As HTTP/1.1 has it. */
  readonly line: string
  /** Bytes that it counts in a table, and in a list. */
  readonly size: number
}

/** Judges a field. */
export function fieldOf(name: string, value: string): Field {
  return judged(name, KINDS.get(name) ?? (NAME.test(name) ? KIND.regular : KIND.malformed), value)
}

/** Judges a field of the same name as one in a table: a block of 64 KiB may repeat one of 4 KiB 30,000 times. */
export function fieldNamed({ name, kindOfName }: Field, value: string): Field {
  return judged(name, kindOfName, value)
}

function judged(name: string, kindOfName: number, value: string): Field {
  const size = name.length + value.length + ENTRY_BYTES
  return { name, value, kind: kindOf(kindOfName, value), kindOfName, line: `${name}: ${value}\r\n`, size }
}

function kindOf(kindOfName: number, value: string): number {
  // Differs from request to request, and may hold less than other values: `isPath` judges it with the request.
  if (kindOfName === KIND.path) return KIND.path
  if (NOT_IN_VALUE.test(value) || WHITE_SPACE.test(value)) return KIND.malformed
  if (kindOfName !== KIND.te) return kindOfName
  return value.toLowerCase() === 'trailers' ? KIND.regular : KIND.malformed
}
