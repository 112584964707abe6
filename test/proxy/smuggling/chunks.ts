import { CHUNKED, SMUGGLED, byteName, post, type BrokenChunks, type Served } from './cases.ts'

const END = '0\r\n\r\n'
const LAST = `abc\r\n${END}`
const HIDDEN = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}`

/** Line ends that some readers accept and others do not. */
const ENDS: [name: string, bytes: string][] = [
  ['LF', '\n'],
  ['CR', '\r'],
  ['CR and a letter', '\rX'],
  ['CR CR', '\r\r'],
  ['CR CR LF', '\r\r\n'],
  ['LF CR', '\n\r'],
]
/** Those and what follows data. */
const TAILS: [name: string, bytes: string][] = [...ENDS, ['nothing', ''], ['two letters', 'XX']]

const endings: BrokenChunks[] = [
  ...ENDS.flatMap(([name, end]): BrokenChunks[] => [
    [`${name} after the size`, `3${end}${LAST}`],
    [`${name} after a semicolon (TERM.EXT)`, `3;${end}${HIDDEN}\r\n${END}`],
    [`${name} in an extension (EXT.TERM)`, `3;a${end}b\r\n${LAST}`],
    [`${name} in the value of an extension`, `3;a=b${end}c\r\n${LAST}`],
    [`${name} in a quoted extension`, `3;a="b${end}c"\r\n${LAST}`],
    [`${name} escaped in a quoted extension`, `3;a="b\\${end}c"\r\n${LAST}`],
    [`${name} after the last size`, `0${end}\r\n${SMUGGLED}`],
    [`${name} in the last extension`, `0;a${end}\r\n${SMUGGLED}`],
    [`${name} in a trailer`, `0\r\nA: b${end}C: d\r\n\r\n`],
    [`${name} in the name of a trailer`, `0\r\nA${end}B: c\r\n\r\n`],
  ]),
  ...TAILS.map(([name, end]): BrokenChunks => [
    `${name} after the data (TERM.SPILL)`,
    `3\r\nabc${end}${HIDDEN}\r\n${END}`,
  ]),
  ...ENDS.filter(([, end]) => end !== '\r').map(([name, end]): BrokenChunks => [
    `${name} in place of the last line`,
    `0\r\n${end}${SMUGGLED}`,
  ]),
]

const SWEPT = [0, 9, 0x0b, 0x0c, 0x1f, 0x20, 0x2c, 0x2e, 0x5f, 0x67, 0x7f, 0x80, 0xa0, 0xb2, 0xff]

const sizes: BrokenChunks[] = SWEPT.flatMap((byte): BrokenChunks[] => {
  const odd = String.fromCharCode(byte)
  return [
    [`${byteName(byte)} before the size`, `${odd}3\r\n${LAST}`],
    [`${byteName(byte)} after the size`, `3${odd}\r\n${LAST}`],
    [`${byteName(byte)} within the size`, `0${odd}3\r\n${LAST}`],
    [`${byteName(byte)} after the last size`, `0${odd}\r\n\r\n`],
  ]
})

/** Fields that mean something to readers that merge trailers into the head. */
const FORBIDDEN = [
  'Authorization',
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'Cookie',
  'Expect',
  'Forwarded',
  'Host',
  'HTTP2-Settings',
  'Keep-Alive',
  'Max-Forwards',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'X-Forwarded-For',
  'X-Forwarded-Anything',
  'X-Real-IP',
  'X-Request-Id',
  'content_length',
  'transfer_encoding',
  'X_Forwarded_For',
]

export const BROKEN_CHUNKS: readonly BrokenChunks[] = [
  ...endings,
  ...sizes,
  ...FORBIDDEN.map((name): BrokenChunks => [`a trailer that is ${name}`, `0\r\n${name}: 5\r\n\r\n`]),
  ['no number', `x\r\n${LAST}`],
  ['an empty size', `\r\n${LAST}`],
  ['an empty size before data', '\r\nabc'],
  ['an extension without a size', `;a=b\r\n${LAST}`],
  ['a sign', `+3\r\n${LAST}`],
  ['a minus sign', `-3\r\n${LAST}`],
  ['0x', `0x3\r\n${LAST}`],
  ['a size in quotes', `"3"\r\n${LAST}`],
  ['a list of sizes', `3,3\r\n${LAST}`],
  ['17 digits', `${'0'.repeat(16)}3\r\n${LAST}`],
  ['17 zeros for the last', `${'0'.repeat(17)}\r\n\r\n`],
  ['a size of 2^53', `20000000000000\r\n${LAST}`],
  ['a size of 2^64 - 1', 'ffffffffffffffff\r\nabc'],
  ['a size of 2^64 + 3', '10000000000000003\r\nabc'],
  ['a size without an end', '1'.repeat(40)],
  ['a semicolon alone', `3;\r\n${LAST}`],
  ['a space before a semicolon', `3 ;a\r\n${LAST}`],
  ['a space after a semicolon', `3; a\r\n${LAST}`],
  ['an extension of no name', `3;=b\r\n${LAST}`],
  ['an extension of no value', `3;a=\r\n${LAST}`],
  ['two equals signs', `3;a==b\r\n${LAST}`],
  ['two semicolons', `3;;a\r\n${LAST}`],
  ['a quoted name', `3;"a"\r\n${LAST}`],
  ['an extension with a space', `3;a b\r\n${LAST}`],
  ['text after a quoted value', `3;a="b"c\r\n${LAST}`],
  ['a quote without an end', `3;a="b\r\n${LAST}`],
  ['a NUL in an extension', `3;a=\0\r\n${LAST}`],
  ['a NUL in a quoted extension', `3;a="\0"\r\n${LAST}`],
  ['an extension of over 256 bytes', `3;a=${'b'.repeat(300)}\r\n${LAST}`],
  ['a quoted extension of over 256 bytes', `3;a="${'b'.repeat(300)}"\r\n${LAST}`],
  ['many extensions of over 256 bytes', `3${';a'.repeat(200)}\r\n${LAST}`],
  ['an extension without an end', `3;${'a'.repeat(20_000)}`],
  ['data longer than its size', '3\r\nabcd\r\n0\r\n\r\n'],
  ['data shorter than its size', '5\r\nabc\r\n0\r\n\r\n'],
  ['a request in place of the last line', `0\r\n${SMUGGLED}`],
  ['a trailer of no token', '0\r\na b: c\r\n\r\n'],
  ['a trailer of no name', '0\r\n: c\r\n\r\n'],
  ['a space before the colon of a trailer', '0\r\na : c\r\n\r\n'],
  ['a trailer without a colon', '0\r\nabc\r\n\r\n'],
  ['a folded trailer', '0\r\na: b\r\n c\r\n\r\n'],
  ['an indented trailer', '0\r\n a: b\r\n\r\n'],
  ['a NUL in a trailer', '0\r\na: \0\r\n\r\n'],
  ['trailers of over 8 KiB', `0\r\n${`a: ${'b'.repeat(1000)}\r\n`.repeat(9)}\r\n`],
  ['a trailer without an end', `0\r\na: ${'b'.repeat(20_000)}`],
]

const chunked = (what: string, body: string, read: string, kept?: RegExp): Served => ({
  what,
  bytes: post([CHUNKED], body),
  read: [['POST /', read]],
  kept: kept ?? /[^]/,
})

export const GOOD_CHUNKS: readonly Served[] = [
  chunked('chunk extensions', `3;a=b;c="d\\" e";f\r\n${LAST}`, 'abc'),
  chunked('a trailer', `3\r\nabc\r\n0;x\r\nA: b\r\nX-Sum:\r\n\r\n`, 'abc', /0;x\r\nA: b\r\nX-Sum:\r\n\r\n$/),
  chunked('16 digits', `${'0'.repeat(15)}3\r\nabc\r\n${'0'.repeat(16)}\r\n\r\n`, 'abc'),
  chunked('letters in both cases', `a\r\n0123456789\r\nA\r\n0123456789\r\n${END}`, '01234567890123456789'),
  chunked(
    'line ends and chunks within data',
    `f\r\n\r\n0\r\n\r\n3\r\nabc\r\n\r\n${END}`,
    '\r\n0\r\n\r\n3\r\nabc\r\n',
  ),
  chunked('an extension of 256 bytes', `3;${'a'.repeat(255)}\r\n${LAST}`, 'abc'),
  chunked('no data', END, ''),
]
